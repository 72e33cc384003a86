// A search over the network's values, as the player `lookahead:DEPTH:AGENT` does it in
// players/lookahead.py: `depth` moves of best play, and then the network.

import { comparedToImage } from "page/line_game";

// The value of each legal column to the mover; NaN where illegal. `gamma` is the discount
// per move of the agent's training.
export function searchValues(game, network, position, depth, gamma) {
  const found = new Array(game.columns).fill(NaN);
  if (depth === 0) {
    const values = network.values(position);
    for (const column of game.legal(position)) found[column] = values[column];
    return found;
  }
  for (const column of game.legal(position)) {
    const after = game.after(position, column);
    found[column] = afterValue(game, network, after, depth, gamma, -Infinity, Infinity);
  }
  return found;
}

// The legal column of the highest value. If several have it, it is the first one on the
// canonical board, as in players/network.py. Illegal columns are NaN.
export function greedy(values, position) {
  const isImageCanonical = comparedToImage(position, values.length) < 0;
  let best = null;
  values.forEach((value, column) => {
    if (Number.isNaN(value)) return;
    const isBetter = best === null || value > values[best];
    if (isBetter || (isImageCanonical && value === values[best])) best = column;
  });
  return best;
}

// The value of a position to the player who has just moved; exact if it is between the
// two bounds (alpha-beta pruning).
function afterValue(game, network, position, depth, gamma, alpha, beta) {
  if (position.row.length) return 1;
  if (game.isOver(position)) return 0;
  return -gamma * best(game, network, position, depth - 1, gamma, -beta / gamma, -alpha / gamma);
}

function best(game, network, position, depth, gamma, alpha, beta) {
  if (depth === 0) {
    const values = network.values(position);
    return Math.max(...game.legal(position).map((column) => values[column]));
  }
  let found = -Infinity;
  for (const column of game.legal(position)) {
    const after = game.after(position, column);
    const low = Math.max(alpha, found);
    found = Math.max(found, afterValue(game, network, after, depth, gamma, low, beta));
    if (found >= beta) break;
  }
  return found;
}
