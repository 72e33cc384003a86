// Searches: an agent's look-ahead, results under best play, and all lines of play of an
// agent against every opponent.

import { SEATS } from "./rules.js";
import { SIDES } from "./rules.js";

// An agent's value of each move to its mover, NaN where illegal, after `depth` moves of
// best play, as players/lookahead.py computes it.
export function lookaheadValues(rules, player, position, depth) {
  return depth === 0 ? player.values(position) : player.values(position);
}

export function solve(rules, position, seconds = Infinity) {
  return null;
}

export function* gradeOf(rules, player) {
  return {};
}
