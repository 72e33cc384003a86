// Every line of play against an agent: the positions that it reaches in its seat when the
// opponent may play any move, mirror images counted once.

import { mirrored } from "page/line_game";
import { greedy, searchValues } from "page/lookahead";

function key({ cells }, columns) {
  let [own, image] = ["", ""];
  for (let cell = 0; cell < cells.length; cell += 1) {
    own += cells[cell] + 1;
    image += cells[mirrored(cell, columns)] + 1;
  }
  return own < image ? own : image;
}

// Yield after each move: { positions, losses }, the positions so far in which nobody has
// won, and the moves so far by which the agent of `side` loses.
export function* reach(game, network, side) {
  const found = { positions: 1, losses: 0 };
  let level = [game.start];
  while (level.length) {
    const next = new Map();
    for (const position of level) {
      const own = game.toMove(position) === side;
      const legal = game.legal(position);
      const values = own ? searchValues(game, network, position, 0) : null;
      const moves = own ? [greedy(values, position)] : legal;
      for (const column of moves) {
        const after = game.after(position, column);
        if (after.row.length) found.losses += own ? 0 : 1;
        else next.set(key(after, game.columns), after);
      }
    }
    found.positions += next.size;
    level = [...next.values()].filter((position) => !game.isOver(position));
    yield { ...found };
  }
}
