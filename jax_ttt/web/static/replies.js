// Who replies where no server does: the three levels, from the tree and action values.

export const LEVELS = {
  beginner: {
    name: "Beginner",
    about: "Plays a random move 7 times of 10, else the learned agent's.",
  },
  medium: { name: "Medium", about: "The learned agent, at its best." },
  expert: { name: "Expert", about: "Exact play. It never loses." },
};
const RANDOM_SHARE = 0.7;

function anyOf(moves) {
  return moves[Math.floor(Math.random() * moves.length)];
}

export function reply(tree, level, values, position) {
  if (level === "expert") return anyOf(tree.bestMoves(position));
  if (level === "beginner" && Math.random() < RANDOM_SHARE) {
    return anyOf(tree.legal(position));
  }
  return values.greedy(position);
}
