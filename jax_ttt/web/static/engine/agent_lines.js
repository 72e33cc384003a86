// Lines of play of an agent: whether a game is one, and a sample of them.

import { provenGoal } from "./search.js";

const OWN_SHARE = 0.75; // of the moves of a strong opponent: those that the agent itself plays

// Whether each move of a side is the agent's, in the order of the game's `moves`, which
// begins with the empty board; and the agent's move in the last position, null if it is the
// opponent's turn: { areAgents, move }.
export function compareMoves(rules, player, moves, side) {
  const areAgents = [];
  let position = rules.start;
  for (const action of moves) {
    if (rules.toMove(position) === side) areAgents.push(player.move(position) === action);
    position = rules.after(position, action);
  }
  const isOwnTurn = !rules.isOver(position) && rules.toMove(position) === side;
  return { areAgents, move: isOwnTurn ? player.move(position) : null };
}

// A line of play of the agent to its end. The opponent plays at random, or if it is strong
// mostly what the agent itself would play; it wins at once where it can.
function playLine(rules, player, side, isStrong, random) {
  const moves = [];
  let position = rules.start;
  while (!rules.isOver(position)) {
    const isAgents = rules.toMove(position) === side;
    moves.push(isAgents ? player.move(position) : reply(rules, player, position, isStrong, random));
    position = rules.after(position, moves.at(-1));
  }
  return { moves, result: rules.result(position, side) };
}

function reply(rules, player, position, isStrong, random) {
  const legal = rules.legal(position);
  const win = legal.find((action) => rules.after(position, action).row.length > 0);
  if (win !== undefined) return win;
  if (isStrong && random() < OWN_SHARE) return player.move(position);
  return legal[Math.floor(random() * legal.length)];
}

// Play this many lines of the agent on a side, against a random and a strong opponent by turns,
// until one of them contradicts the goal "win" or "not-lose": { lines: { won, drawn, lost },
// contradiction (the moves of that line, or null) }. Yields the same after each line.
export function* checkLines(rules, player, { side, goal, count, random = Math.random }) {
  const lines = { won: 0, drawn: 0, lost: 0 };
  let contradiction = null;
  for (let line = 0; line < count && contradiction === null; line += 1) {
    const { moves, result } = playLine(rules, player, side, line % 2 === 1, random);
    lines[result] += 1;
    const goals = goal === "win" ? ["win"] : ["win", "not-lose"];
    if (!goals.includes(provenGoal(lines))) contradiction = moves;
    yield { lines, contradiction };
  }
  return { lines, contradiction };
}
