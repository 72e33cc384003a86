// The proof, checked again: every line of play of an agent, walked over the tree.

import { START } from "page/tree";

// Count the lines of play of a greedy agent on a side against every opponent, by the
// agent's result, and find the shortest one that it loses (null if there is none).
export function check(tree, values, side) {
  const lines = { won: 0, drawn: 0, lost: 0 };
  const line = [];
  let losing = null;
  const walk = (position) => {
    const result = tree.result(position, side);
    if (result !== null) {
      lines[result] += 1;
      if (result === "lost" && (losing === null || line.length < losing.length)) {
        losing = [...line];
      }
      return;
    }
    for (const action of playable(tree, values, side, position)) {
      line.push(action);
      walk(tree.after(position, action));
      line.pop();
    }
  };
  walk(START);
  return { lines, losing, unbeatable: lines.lost === 0 };
}

// The agent's one move on its turn, and every legal move of the opponent.
function playable(tree, values, side, position) {
  if (tree.toMove(position) === side) return [values.greedy(position)];
  return tree.legal(position);
}
