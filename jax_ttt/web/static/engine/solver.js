// Results under best play.

import { ResultSolver, TIME_OVER } from "./result_solver.js";

// The result of a position under best play, or null if the game is over or the time does
// not suffice: see `exact` in engine.js. Where stones fall, win, draw or loss takes less time than
// the number of moves, which is null where the time does not suffice for it.
export function solve(rules, position, seconds = Infinity) {
  if (rules.isOver(position)) return null;
  if (solver?.rules.envId !== rules.envId) solver = new Solver(rules);
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

// The result of a position from its moves: see `exact` in engine.js. Where the numbers of moves
// are not known, the best moves are those that win at once, or else all moves with the best
// value but those that lose at once.
function summarize(actions) {
  const value = Math.max(...actions.map((one) => one.value));
  let best = actions.filter((one) => one.value === value);
  const numbers = best.map(({ moves }) => moves);
  let moves = value > 0 ? Math.min(...numbers) : Math.max(...numbers);
  if (numbers.includes(null)) {
    moves = value > 0 && numbers.includes(1) ? 1 : null;
  }
  best = best.filter((one) => one.moves === moves);
  return { value, moves, best: best.map(({ action }) => action), actions };
}

let solver = null; // of the game that was solved last: its tables take some 50 MB
const NODES_PER_LOOK = 4096; // positions between two looks at the clock
const SLOTS = 2 ** 21; // of the table of positions

// Best play, found by alpha-beta search with a table of positions. Where stones fall, a search of
// its own first says who wins, which leaves fewer scores to search for. The players' stones are
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
    this.results = falls ? new ResultSolver(rules) : null;
  }

  mask(cells) {
    const low = cells.reduce((word, cell) => word | this.low[cell], 0);
    return [low, cells.reduce((word, cell) => word | this.high[cell], 0)];
  }

  solve(position, deadline) {
    const { rules } = this;
    this.deadline = deadline;
    this.nodes = 0;
    const values = new Map();
    if (rules.falls) {
      for (const action of rules.legal(position)) {
        values.set(action, this.resultOf(rules.after(position, action), deadline));
      }
    }
    try {
      return summarize(this.withMoves(position, values));
    } catch (error) {
      if (error !== TIME_OVER || !rules.falls) throw error;
      const decided = new Map(decideAtOnce(rules, position).map((one) => [one.action, one.moves]));
      const movesOf = (action, value) => (value === 0 ? 0 : (decided.get(action) ?? null));
      const actions = [...values].map(([action, value]) => {
        return { action, value, moves: movesOf(action, value) };
      });
      return summarize(actions);
    }
  }

  // The result of a position to the player who has just moved.
  resultOf(after, deadline) {
    if (after.row.length > 0) return 1;
    return this.rules.isOver(after) ? 0 : -this.results.result(after, deadline);
  }

  // Each move with its value and the moves to the end. `values` has the known values.
  withMoves(position, values) {
    const { rules } = this;
    const stones = position.cells.reduce((sum, stone) => sum + Math.abs(stone), 0);
    return rules.legal(position).map((action) => {
      const score = -this.score(rules.after(position, action), stones + 1, values.get(action));
      const moves = score === 0 ? 0 : rules.numCells + 1 - Math.abs(score) - stones;
      return { action, value: Math.sign(score), moves };
    });
  }

  // The score of a position to its mover, by searches that ask whether it is higher than
  // a number: these are fast, and few are needed. `value` is the known result to the other
  // player, or undefined.
  score(position, stones, value) {
    const { rules } = this;
    if (position.row.length > 0) return -(rules.numCells + 1 - stones);
    if (value === 0) return 0;
    for (let column = 0; column < rules.columns; column += 1) {
      this.free[column] = rules.falls ? (rules.cell(position, column) ?? -1) : 0;
    }
    const cells = Array.from(position.cells.keys());
    const own = this.mask(cells.filter((cell) => position.cells[cell] === position.sign));
    const opponent = this.mask(cells.filter((cell) => position.cells[cell] === -position.sign));
    let low = value === -1 ? 1 : -(rules.numCells - stones);
    let high = value === 1 ? -1 : rules.numCells - stones;
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
