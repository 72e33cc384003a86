// Searches of an agent: its look-ahead, and all of its lines of play against every opponent.

import { SEATS, SIDES } from "./rules.js";
import { solve } from "./solver.js";

// An agent's value of each move to its mover, NaN where illegal, after `depth` moves of
// best play, as players/search_players.py computes it.
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
  rules; player;

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

// Every line of play of a player against every opponent, in the seats that it learned:
// { first, second }, each with the names of Python's SeatGrade: lines { won, drawn, lost },
// num_positions (positions that it reaches in which nobody has won), win_rate, draw_rate
// and loss_rate (exact, against an opponent that plays at random: low and high, the bounds of
// these three, are equal), unbeatable, proven ("win"
// where it wins every line, else "not-lose" where it loses none, or null), num_corrections
// (that it plays; null for an agent without any), losing_line (the actions of a shortest line
// that it loses, or null), and optimal_move_rate (the share of all positions of its seat in
// which its move keeps the result; null unless the game is enumerable).
// Yields { side, positions } at times.
export function* gradeOf(rules, player) {
  const grade = {};
  for (const side of SIDES) {
    const seat = SEATS[side];
    if (!player.agent.seats.includes(seat)) continue;
    grade[seat] = yield* seatGrade(rules, player, side);
    grade[seat].optimal_move_rate = rules.isEnumerable ? optimalMoveRate(rules, player, side) : null;
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
  let corrections = 0;
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
      if (isOwn && player.correction(here.position) !== null) corrections += 1;
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
  const rates = [chances.won, chances.drawn, chances.lost];
  return {
    lines,
    num_positions: positions,
    win_rate: chances.won,
    draw_rate: chances.drawn,
    loss_rate: chances.lost,
    low: rates,
    high: rates,
    unbeatable: losingLine === null,
    proven: provenGoal(lines),
    num_corrections: player.agent.corrections === null ? null : corrections,
    losing_line: losingLine,
  };
}

// What lines of play with these results allow to prove: "win", "not-lose" or null.
export function provenGoal({ drawn, lost }) {
  if (lost > 0) return null;
  return drawn > 0 ? "not-lose" : "win";
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
  const positions = solvedPositions(rules).filter(({ mover }) => mover === side);
  const optimal = positions.filter(({ position, best }) => best.has(player.move(position)));
  return optimal.length / positions.length;
}

const solved = new Map(); // by game: a training is evaluated often

// Every position of an enumerable game in which a player moves: { position, mover (a side),
// best (the actions that keep the result) }.
function solvedPositions(rules) {
  if (!solved.has(rules.envId)) {
    const positions = [...everyPosition(rules)].filter((position) => !rules.isOver(position));
    const entries = positions.map((position) => {
      const { value, actions } = solve(rules, position);
      const best = actions.filter((one) => one.value === value).map(({ action }) => action);
      return { position, mover: rules.toMove(position), best: new Set(best) };
    });
    solved.set(rules.envId, entries);
  }
  return solved.get(rules.envId);
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
