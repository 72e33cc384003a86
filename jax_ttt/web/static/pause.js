// Pauses, so that a move is seen as one.

export const REPLY_DELAY = 300; // ms

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
