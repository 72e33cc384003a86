// Action values of an agent, and the three layers of values on the board.

import { bytes } from "page/tree";
import { outcomeWord, signed, spoken, toneOf } from "page/words";

export class ActionValues {
  // `table` has numPositions x numActions float32 values, NaN where illegal. `moves` has
  // the agent's move in each position.
  constructor(tree, table, moves) {
    this.tree = tree;
    this.table = table;
    this.moves = moves;
  }

  of(position, action) {
    return this.table[position * this.tree.numActions + action];
  }

  // The agent's move: one of those with the highest value.
  greedy(position) {
    return this.tree.isOver(position) ? null : this.moves[position];
  }
}

export function fromBase64(tree, text, moves) {
  return new ActionValues(tree, new Float32Array(bytes(text).buffer), bytes(moves));
}

// Only the values of the legal moves are there, position by position.
export function fromLegal(tree, text, moves) {
  const packed = new Float32Array(bytes(text).buffer);
  const table = new Float32Array(tree.numPositions * tree.numActions).fill(NaN);
  let next = 0;
  for (let i = 0; i < table.length; i += 1) {
    if (tree.successor[i]) table[i] = packed[next++];
  }
  return new ActionValues(tree, table, bytes(moves));
}

const TONES = { win: "good", draw: "even", loss: "bad" };

// What each layer shows for a move: { layer, label, text, tone, spoken }.
export function describe(tree, layers, position, action) {
  const shown = [];
  for (const { layer, values } of layers) {
    if (layer === "exact") {
      const value = tree.exact(position, action);
      const word = outcomeWord(value);
      const left = tree.movesLeft(position, action) + 1;
      const about = value === 0 ? "draw" : `${word} in ${left}`;
      shown.push({ layer, text: word, tone: TONES[word], spoken: `exact ${about}` });
    } else if (values) {
      const value = values.of(position, action);
      const own = values.greedy(position) === action;
      const about = `${layer} ${spoken(value)}${own ? ", its move" : ""}`;
      shown.push({ layer, text: signed(value), tone: toneOf(value, own), spoken: about });
    }
  }
  return shown;
}
