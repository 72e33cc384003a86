// Searches: an agent's look-ahead, results under best play, and all lines of play of an
// agent against every opponent.

import { SEATS, SIDES } from "./rules.js";

// An agent's value of each move to its mover, NaN where illegal, after `depth` moves of
// best play, as players/lookahead.py computes it.
export function lookaheadValues(rules, player, position, depth) {
  if (depth === 0) return player.values(position);
  const search = new Lookahead(rules, player);
  const values = new Float64Array(rules.numActions).fill(NaN);
  for (const action of rules.legal(position)) {
    values[action] = search.afterValue(rules.after(position, action), depth, -1, 1);
  }
  return values;
}

// Alpha-beta search over an agent's values, which are -1 to 1. Bounds are remembered, since
// many lines of play lead to one position.
class Lookahead {
  constructor(rules, player) {
    Object.assign(this, { rules, player });
    this.leaves = new Map(); // key of a position -> the highest of the agent's values
    this.bounds = new Map(); // key and depth -> [low, high]
  }

  // The value of a position to the player who has just moved; exact if it is between the
  // two bounds.
  afterValue(position, depth, alpha, beta) {
    if (position.row.length > 0) return 1;
    const { gamma } = this.player;
    if (gamma === 0 || this.rules.isOver(position)) return 0;
    return -gamma * this.best(position, depth - 1, -beta / gamma, -alpha / gamma);
  }

  // The value of a position to its mover after `depth` moves; exact as above.
  best(position, depth, alpha, beta) {
    const key = String.fromCharCode(...this.player.agentBoard(position).stones.map((s) => s + 1));
    if (depth === 0) return this.highest(position, key);
    const bounds = this.bounds.get(key + depth) ?? [-1, 1];
    const low = Math.max(alpha, bounds[0]);
    const high = Math.min(beta, bounds[1]);
    if (low >= high) return low >= beta ? bounds[0] : bounds[1];
    let best = -Infinity;
    for (const after of this.successors(position)) {
      best = Math.max(best, this.afterValue(after, depth, Math.max(low, best), high));
      if (best >= high) break;
    }
    if (best > low) bounds[0] = Math.max(bounds[0], best);
    if (best < high) bounds[1] = Math.min(bounds[1], best);
    this.bounds.set(key + depth, bounds);
    return best;
  }

  // The highest of the agent's own values.
  highest(position, key) {
    let highest = this.leaves.get(key);
    if (highest === undefined) {
      const values = this.player.values(position);
      highest = Math.max(...values.filter((value) => !Number.isNaN(value)));
      this.leaves.set(key, highest);
    }
    return highest;
  }

  // The positions after each move, in the order of the agent's values; a win alone.
  successors(position) {
    const moves = [];
    for (const action of this.rules.legal(position)) {
      const after = this.rules.after(position, action);
      if (after.row.length > 0) return [after];
      moves.push({ action, after });
    }
    const values = this.player.values(position);
    moves.sort((a, b) => values[b.action] - values[a.action]);
    return moves.map(({ after }) => after);
  }
}

// The result of a position under best play, or null if the game is over or the time does
// not suffice: see `exact` in engine.js.
export function solve(rules, position, seconds = Infinity) {
  if (rules.isOver(position)) return null;
  if (!solvers.has(rules.envId)) solvers.set(rules.envId, new Solver(rules));
  const solver = solvers.get(rules.envId);
  try {
    return solver.solve(position, Date.now() + 1000 * seconds);
  } catch (error) {
    if (error !== TIME_OVER) throw error;
    return null;
  }
}

// The moves that win at once, and those after which the opponent wins at once: their results
// are exact in any position, and need no search. A list as the `actions` of `solve`.
export function decideAtOnce(rules, position) {
  const wins = (after) => after.row.length > 0;
  const decided = [];
  for (const action of rules.legal(position)) {
    const after = rules.after(position, action);
    const replies = wins(after) ? [] : rules.legal(after);
    if (wins(after)) decided.push({ action, value: 1, moves: 1 });
    else if (replies.some((reply) => wins(rules.after(after, reply)))) {
      decided.push({ action, value: -1, moves: 2 });
    }
  }
  return decided;
}

const solvers = new Map(); // name of a game -> its solver, with its table of positions
const TIME_OVER = new Error("the time is over");
const NODES_PER_LOOK = 4096; // positions between two looks at the clock
const SLOTS = 2 ** 21; // of the table of positions

// Best play, found by alpha-beta search with a table of positions. The players' stones are
// bits of two words of 32 bits each. A score is 0 for a draw; a win with the last free cell is
// 1, each stone fewer is 1 more, and a loss is the negative of the opponent's score.
class Solver {
  constructor(rules) {
    this.rules = rules;
    const { numCells, columns, rows, falls } = rules;
    // Where stones fall, each column has a free bit above it. So the sum of the mover's
    // stones and of all stones is a key of the position: no column adds to the next one.
    this.perWord = falls ? Math.floor(30 / (rows + 1)) : columns;
    this.wordSize = falls ? 2 ** (this.perWord * (rows + 1)) : 2 ** numCells;
    this.low = new Int32Array(numCells);
    this.high = new Int32Array(numCells);
    for (let cell = 0; cell < numCells; cell += 1) {
      const column = cell % columns;
      const height = rows - 1 - Math.floor(cell / columns);
      const bit = falls ? (column % this.perWord) * (rows + 1) + height : cell;
      const isLow = !falls || column < this.perWord;
      (isLow ? this.low : this.high)[cell] = 1 << bit;
    }
    // The other cells of each line through a cell, as pairs of words.
    this.others = rules.linesThrough.map((lines, cell) => {
      const masks = lines.flatMap((line) => this.mask(line.filter((other) => other !== cell)));
      return Int32Array.from(masks);
    });
    // Cells of many lines are tried first.
    const byLines = (a, b) => this.others[b].length - this.others[a].length;
    this.order = Array.from({ length: numCells }, (_, cell) => cell).sort(byLines);
    this.keys = new Float64Array(SLOTS).fill(-1);
    this.lowest = new Int8Array(SLOTS);
    this.highest = new Int8Array(SLOTS);
    this.moves = new Int8Array((numCells + 1) * rules.numActions);
    this.free = new Int8Array(columns); // where stones fall: each column's next cell
  }

  mask(cells) {
    const low = cells.reduce((word, cell) => word | this.low[cell], 0);
    return [low, cells.reduce((word, cell) => word | this.high[cell], 0)];
  }

  solve(position, deadline) {
    const { rules } = this;
    this.deadline = deadline;
    this.nodes = 0;
    const stones = position.cells.reduce((sum, stone) => sum + Math.abs(stone), 0);
    const actions = rules.legal(position).map((action) => {
      const after = rules.after(position, action);
      const score = -this.score(after, stones + 1);
      const moves = score === 0 ? 0 : rules.numCells + 1 - Math.abs(score) - stones;
      return { action, score, value: Math.sign(score), moves };
    });
    const highest = Math.max(...actions.map(({ score }) => score));
    const best = actions.filter(({ score }) => score === highest);
    return {
      value: best[0].value,
      moves: best[0].moves,
      best: best.map(({ action }) => action),
      actions: actions.map(({ action, value, moves }) => ({ action, value, moves })),
    };
  }

  // The score of a position to its mover, by searches that ask whether it is higher than
  // a number: these are fast, and few are needed.
  score(position, stones) {
    const { rules } = this;
    if (position.row.length > 0) return -(rules.numCells + 1 - stones);
    for (let column = 0; column < rules.columns; column += 1) {
      this.free[column] = rules.falls ? (rules.cell(position, column) ?? -1) : 0;
    }
    const cells = Array.from(position.cells.keys());
    const own = this.mask(cells.filter((cell) => position.cells[cell] === position.sign));
    const opponent = this.mask(cells.filter((cell) => position.cells[cell] === -position.sign));
    let low = -(rules.numCells - stones);
    let high = rules.numCells - stones;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const score = this.search(...own, ...opponent, stones, middle, middle + 1);
      if (score <= middle) high = score;
      else low = score;
    }
    return low;
  }

  // Whether a stone on a cell makes a line of these stones.
  wins(low, high, cell) {
    const others = this.others[cell];
    for (let i = 0; i < others.length; i += 2) {
      if ((low & others[i]) === others[i] && (high & others[i + 1]) === others[i + 1]) return true;
    }
    return false;
  }

  // The score of the position with these stones of the mover and of the opponent; exact
  // if it is between alpha and beta, else a bound.
  search(ownLow, ownHigh, otherLow, otherHigh, stones, alpha, beta) {
    const { moves, rules } = this;
    const { columns, falls } = rules;
    this.nodes += 1;
    if (this.nodes % NODES_PER_LOOK === 0 && Date.now() > this.deadline) throw TIME_OVER;
    const left = rules.numCells - stones;
    if (left === 0) return 0;
    const begin = stones * rules.numActions;
    const end = begin + this.listMoves(ownLow, ownHigh, otherLow, otherHigh, begin);
    if (this.hasWon) return left;
    if (left === 1) return 0;
    if (begin === end) return 1 - left; // the opponent wins with the next stone

    // Nobody wins with the next two stones, which limits the score.
    if (left === 2) return 0;
    const allLow = ownLow | otherLow;
    const allHigh = ownHigh | otherHigh;
    const key = falls
      ? ownLow + allLow + (ownHigh + allHigh) * this.wordSize
      : ownLow + allLow * this.wordSize;
    const slot = this.slot(ownLow + allLow, falls ? ownHigh + allHigh : allLow);
    const isKnown = this.keys[slot] === key;
    let lowest = isKnown ? this.lowest[slot] : 3 - left;
    let highest = isKnown ? this.highest[slot] : left - 2;
    if (lowest >= beta) return lowest;
    if (highest <= alpha) return highest;
    if (lowest === highest) return lowest;
    const low = Math.max(alpha, lowest);
    const high = Math.min(beta, highest);

    let best = -rules.numCells;
    for (let i = begin; i < end && best < high; i += 1) {
      const cell = moves[i];
      if (falls) this.free[cell % columns] = cell - columns;
      const score = -this.search(
        otherLow,
        otherHigh,
        ownLow | this.low[cell],
        ownHigh | this.high[cell],
        stones + 1,
        -high,
        -Math.max(low, best),
      );
      if (falls) this.free[cell % columns] = cell;
      if (score > best) best = score;
    }
    if (best > low) lowest = Math.max(lowest, best);
    if (best < high) highest = Math.min(highest, best);
    this.keys[slot] = key;
    this.lowest[slot] = lowest;
    this.highest[slot] = highest;
    return best;
  }

  // List the cells to try in `moves`, from the place `begin` on, and return how many they
  // are: none if the opponent wins with the next stone whatever the mover does. `hasWon`
  // then says whether the mover wins at once.
  listMoves(ownLow, ownHigh, otherLow, otherHigh, begin) {
    const { free, moves, order } = this;
    const { columns, falls, numCells } = this.rules;
    this.hasWon = false;
    let end = begin;
    let threat = -1; // a cell where the opponent wins
    let threats = 0;
    for (let i = 0; i < numCells; i += 1) {
      const cell = order[i];
      const isFree = falls
        ? free[cell % columns] === cell
        : ((ownLow | otherLow) & this.low[cell]) === 0;
      if (!isFree) continue;
      if (this.wins(ownLow, ownHigh, cell)) {
        this.hasWon = true;
        return 0;
      }
      if (this.wins(otherLow, otherHigh, cell)) {
        threat = cell;
        threats += 1;
      }
      moves[end] = cell;
      end += 1;
    }
    if (threats > 1) return 0;
    if (threats === 1) {
      moves[begin] = threat;
      end = begin + 1;
    }
    if (!falls) return end - begin;
    // A stone below a cell where the opponent wins loses.
    let safeEnd = begin;
    for (let i = begin; i < end; i += 1) {
      const above = moves[i] - columns;
      if (above >= 0 && this.wins(otherLow, otherHigh, above)) continue;
      moves[safeEnd] = moves[i];
      safeEnd += 1;
    }
    return safeEnd - begin;
  }

  slot(low, high) {
    const mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    return (mixed ^ (mixed >>> 15)) & (SLOTS - 1);
  }
}

// Every line of play of a player against every opponent, in the seats that it learned:
// { first, second }, each with the names of Python's SeatGrade: lines { won, drawn, lost },
// num_positions (positions that it reaches in which nobody has won), win_rate, draw_rate
// and loss_rate (exact, against an opponent that plays at random), unbeatable, losing_line
// (the actions of a shortest line that it loses, or null), and optimal_move_rate (the share
// of all positions of its seat in which its move keeps the result; null unless the game is
// enumerable).
// Yields { side, positions } at times.
export function* gradeOf(rules, player) {
  const grade = {};
  for (const side of SIDES) {
    const seat = SEATS[side];
    if (player.agent.seats.includes(seat)) grade[seat] = yield* seatGrade(rules, player, side);
  }
  return grade;
}

const POSITIONS_PER_YIELD = 64;

// Equal positions after equally many moves are one, and so are mirror images if the
// player plays mirrored moves on them, as in solver/reached_positions.py.
function* seatGrade(rules, player, side) {
  const lines = { won: 0, drawn: 0, lost: 0 };
  const chances = { won: 0, drawn: 0, lost: 0 };
  let positions = 0;
  let losingLine = null;
  // Of each position: how many lines of play lead there, the chance that a random
  // opponent's game does, and a shortest line, as its last action and the one before.
  let level = [{ position: rules.start, lines: 1, chance: 1, before: null, action: null }];
  while (level.length > 0) {
    const next = new Map();
    const isOwn = rules.toMove(level[0].position) === side;
    positions += level.length;
    for (const [i, here] of level.entries()) {
      if (i % POSITIONS_PER_YIELD === 0) yield { side, positions: positions + next.size };
      const actions = isOwn ? [player.move(here.position)] : rules.legal(here.position);
      const chance = here.chance / actions.length;
      for (const action of actions) {
        const position = rules.after(here.position, action);
        const result = rules.result(position, side);
        if (result !== null) {
          lines[result] += here.lines;
          chances[result] += chance;
        }
        if (result === "lost") losingLine ??= lineTo({ before: here, action });
        if (position.row.length > 0) continue;
        const reached = { position, lines: here.lines, chance, before: here, action };
        add(next, reachedKey(rules, player, position), reached);
      }
      here.position = null; // it takes most of the memory, and the line goes on through it
    }
    level = [...next.values()].filter(({ position }) => !rules.isOver(position));
    positions += next.size - level.length;
  }
  return {
    lines,
    num_positions: positions,
    win_rate: chances.won,
    draw_rate: chances.drawn,
    loss_rate: chances.lost,
    unbeatable: losingLine === null,
    losing_line: losingLine,
    optimal_move_rate: rules.isEnumerable ? optimalMoveRate(rules, player, side) : null,
  };
}

function add(level, key, reached) {
  const same = level.get(key);
  if (!same) {
    level.set(key, reached);
    return;
  }
  same.lines += reached.lines;
  same.chance += reached.chance;
}

function lineTo(reached) {
  const line = [];
  for (let step = reached; step.before !== null; step = step.before) line.unshift(step.action);
  return line;
}

function reachedKey(rules, player, position) {
  return player.isSymmetric ? rules.canonical(position).stones.join("") : rules.key(position);
}

// The share of a seat's positions in which the player's move keeps the exact result.
function optimalMoveRate(rules, player, side) {
  let [all, optimal] = [0, 0];
  for (const position of everyPosition(rules)) {
    if (rules.toMove(position) !== side) continue;
    const exact = solve(rules, position);
    const move = player.move(position);
    all += 1;
    if (exact.actions.find(({ action }) => action === move).value === exact.value) optimal += 1;
  }
  return optimal / all;
}

// Every position of an enumerable game.
function everyPosition(rules) {
  const positions = new Map([[rules.key(rules.start), rules.start]]);
  for (const position of positions.values()) {
    for (const action of rules.legal(position)) {
      const after = rules.after(position, action);
      positions.set(rules.key(after), after);
    }
  }
  return positions.values();
}
