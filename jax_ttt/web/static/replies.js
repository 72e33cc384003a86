// Replies: how long they take, and, where no server replies, the three levels.

export const LEVELS = {
  beginner: {
    name: "Beginner",
    about: "Plays a random move 7 times of 10, else the learned agent's.",
  },
  medium: { name: "Medium", about: "The learned agent, at its best." },
  expert: { name: "Expert", about: "Exact play. It never loses." },
};
export const REPLY_DELAY = 300; // ms, so that the reply is seen as one
const RANDOM_SHARE = 0.7;

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

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
