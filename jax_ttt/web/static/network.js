// The forward pass of an agent's network, as in networks/q_network.py: two planes of the
// mover's and the opponent's stones, of the canonical one of both mirror images.

import { comparedToImage, mirrored } from "page/line_game";
import { bytes } from "page/tree";

// From here on, XLA's tanh on a CPU is 1, so several columns can have the highest value.
const SATURATED = 7.998812;

function tanh(sum) {
  return Math.abs(sum) > SATURATED ? Math.sign(sum) : Math.fround(Math.tanh(sum));
}

function floats(text) {
  return new Float32Array(bytes(text).buffer);
}

export class Network {
  // `layers` are kernels (inputs, outputs) and biases as base64 of float32.
  constructor({ columns, layers }) {
    this.columns = columns;
    this.layers = layers.map(({ kernel, bias }) => ({
      kernel: floats(kernel),
      bias: floats(bias),
    }));
  }

  // The value of each column to the mover, also of full ones; `position` as in LineGame.
  values(position) {
    const { cells, sign } = position;
    const order = comparedToImage(position, this.columns);
    const isImage = order < 0;
    const inputs = new Float64Array(2 * cells.length);
    for (let cell = 0; cell < cells.length; cell += 1) {
      const stone = sign * cells[isImage ? mirrored(cell, this.columns) : cell];
      if (stone !== 0) inputs[2 * cell + (stone > 0 ? 0 : 1)] = 1;
    }
    const found = Array.from(this.forward(inputs));
    if (isImage) return found.reverse();
    // In a board that is its own image, mirrored columns have the same value.
    return order === 0 ? found.map((_, a) => found[Math.min(a, found.length - 1 - a)]) : found;
  }

  // Most inputs of a layer are 0 and are left out.
  forward(inputs) {
    let values = inputs;
    this.layers.forEach(({ kernel, bias }, depth) => {
      const sums = Float64Array.from(bias);
      const size = sums.length;
      for (let i = 0; i < values.length; i += 1) {
        const value = values[i];
        if (value === 0) continue;
        const row = i * size;
        for (let k = 0; k < size; k += 1) sums[k] += value * kernel[row + k];
      }
      const last = depth === this.layers.length - 1;
      for (let k = 0; k < size; k += 1) {
        sums[k] = last ? tanh(sums[k]) : Math.max(sums[k], 0);
      }
      values = sums;
    });
    return values;
  }
}
