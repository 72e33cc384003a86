// The network that learns: forward and backward pass of a multilayer perceptron with relu and
// a final tanh, as networks/mlp.py, AdamW as Optax has it, and the averages of the weights.

import { moveTowards } from "./learner.js";

// AdamW's decay rates of the means of gradients and of their squares, and its epsilon.
const MEAN_DECAY = 0.9;
const SQUARE_DECAY = 0.999;
const SMALL = 1e-8;

// The share of the normal distribution's width that is left between -2 and 2.
const TRUNCATED_WIDTH = 0.87962566103423978;

// A number of the normal distribution between -2 and 2.
function truncatedNormal(random) {
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const number = radius * Math.cos(2 * Math.PI * random());
    if (Math.abs(number) < 2) return number;
  }
}

// All weights are in one list. A layer's kernel is (inputs, outputs) there; in a file it is
// (outputs, inputs).
export class Network {
  targetActivations;

  // `random` returns uniform random numbers in [0, 1); kernels begin as in `nnx.Linear`.
  constructor(graph, config, random) {
    this.graph = graph;
    this.config = config;
    const hidden = new Array(config.hidden_layers).fill(config.hidden_size);
    const sizes = [graph.numCells, ...hidden, graph.numOutputs];
    this.layers = [];
    let size = 0;
    for (let i = 1; i < sizes.length; i += 1) {
      const [numIn, numOut] = [sizes[i - 1], sizes[i]];
      this.layers.push({ numIn, numOut, kernel: size, bias: size + numIn * numOut });
      size += numIn * numOut + numOut;
    }
    this.params = new Float32Array(size);
    for (const { numIn, numOut, kernel } of this.layers) {
      const width = Math.sqrt(1 / numIn) / TRUNCATED_WIDTH;
      for (let i = 0; i < numIn * numOut; i += 1) {
        this.params[kernel + i] = width * truncatedNormal(random);
      }
    }
    this.targetParams = this.params.slice();
    this.averageParams = this.params.slice();
    this.gradient = new Float64Array(size);
    this.means = new Float32Array(size);
    this.squares = new Float32Array(size);
    this.steps = 0;
    this.activations = sizes.map((length) => new Float64Array(config.num_envs * length));
    this.errors = sizes.map((length) => new Float64Array(config.num_envs * length));
  }

  get numVisited() {
    return null;
  }

  // Whether no output changes any more, since tanh is 1 or -1 everywhere.
  get isSaturated() {
    return this.steps > 0 && this.gradient.every((slope) => slope === 0);
  }

  // The order matters: `learn` uses the activations of `evaluate`.
  evaluateTarget(batch) {
    const own = this.activations;
    this.targetActivations ??= own.map((list) => new Float64Array(list.length));
    this.activations = this.targetActivations;
    this.forward(this.targetParams, batch);
    this.activations = own;
  }

  evaluate(batch) {
    this.forward(this.params, batch);
  }

  // Put the outputs for a batch's boards into it.
  forward(params, { boards, count, outputs }) {
    const { activations, graph, layers } = this;
    const { numCells, stones } = graph;
    const [inputs] = activations;
    for (let slot = 0; slot < count; slot += 1) {
      const board = boards[slot] * numCells;
      for (let i = 0; i < numCells; i += 1) inputs[slot * numCells + i] = stones[board + i];
    }
    layers.forEach(({ numIn, numOut, kernel, bias }, depth) => {
      const [ins, outs] = [activations[depth], activations[depth + 1]];
      const isLast = depth === layers.length - 1;
      const weights = params.subarray(kernel, bias);
      for (let slot = 0; slot < count; slot += 1) {
        const begin = slot * numOut;
        for (let k = 0; k < numOut; k += 1) outs[begin + k] = params[bias + k];
        for (let i = 0; i < numIn; i += 1) {
          const value = ins[slot * numIn + i];
          if (value !== 0) addMultiple(outs, begin, value, weights, i * numOut, numOut);
        }
        for (let k = begin; k < begin + numOut; k += 1) {
          if (isLast) outs[k] = Math.tanh(outs[k]);
          else if (outs[k] < 0) outs[k] = 0;
        }
      }
    });
    const last = activations.at(-1);
    for (let k = 0; k < count * graph.numOutputs; k += 1) outputs[k] = last[k];
  }

  // Take a gradient step on a batch, which was evaluated before, and update the target
  // network and the average. `gradients` are those of the loss by the outputs.
  learn({ batch, gradients, learningRate }) {
    this.backward(batch.count, gradients);
    this.adamStep(Math.fround(learningRate));
    moveTowards(this.targetParams, this.params, Math.fround(this.config.tau));
    const share = 1 / (1 + this.config.average_span * (this.steps - 1));
    moveTowards(this.averageParams, this.params, share);
  }

  // Let the average, which is the agent, move as far as the weights do in some steps: as part of
  // the average, these few steps would hardly be seen.
  movingAverageAlong(learn) {
    const before = this.params.slice();
    const average = this.averageParams.slice();
    learn();
    for (let i = 0; i < average.length; i += 1) {
      this.averageParams[i] = average[i] + this.params[i] - before[i];
    }
  }

  // Set `gradient` by the gradients of the outputs.
  backward(count, gradients) {
    const { activations, errors, gradient, layers, params } = this;
    gradient.fill(0);
    const lastErrors = errors.at(-1);
    const outputs = activations.at(-1);
    for (let k = 0; k < count * this.graph.numOutputs; k += 1) {
      lastErrors[k] = gradients[k] === 0 ? 0 : gradients[k] * (1 - outputs[k] ** 2);
    }
    for (let depth = layers.length - 1; depth >= 0; depth -= 1) {
      const { numIn, numOut, kernel, bias } = layers[depth];
      const [ins, inErrors, outErrors] = [activations[depth], errors[depth], errors[depth + 1]];
      const weights = params.subarray(kernel, bias);
      const slopes = gradient.subarray(kernel, bias);
      const biasSlopes = gradient.subarray(bias, bias + numOut);
      for (let slot = 0; slot < count; slot += 1) {
        const begin = slot * numOut;
        for (let k = 0; k < numOut; k += 1) biasSlopes[k] += outErrors[begin + k];
        for (let i = 0; i < numIn; i += 1) {
          const value = ins[slot * numIn + i];
          // A neuron at 0 passes no gradient on, and its weights get none.
          if (value !== 0) addMultiple(slopes, i * numOut, value, outErrors, begin, numOut);
          if (depth === 0) continue;
          inErrors[slot * numIn + i] =
            value > 0 ? product(weights, i * numOut, outErrors, begin, numOut) : 0;
        }
      }
    }
  }

  adamStep(learningRate) {
    const { gradient, means, params, squares } = this;
    const decay = learningRate * Math.fround(this.config.weight_decay);
    this.steps += 1;
    const meanScale = 1 / (1 - MEAN_DECAY ** this.steps);
    const squareScale = 1 / (1 - SQUARE_DECAY ** this.steps);
    for (let i = 0; i < params.length; i += 1) {
      const slope = gradient[i];
      const mean = MEAN_DECAY * means[i] + (1 - MEAN_DECAY) * slope;
      const square = SQUARE_DECAY * squares[i] + (1 - SQUARE_DECAY) * slope * slope;
      means[i] = mean;
      squares[i] = square;
      const change = (meanScale * mean) / (Math.sqrt(squareScale * square) + SMALL);
      params[i] -= learningRate * change + decay * params[i];
    }
  }

  // The tensors of the agent's file, of the average of the weights.
  tensors() {
    const tensors = [];
    this.layers.forEach(({ numIn, numOut, kernel, bias }, number) => {
      const name = `layers.layers.${2 * number}`; // an activation is between two layers
      const values = new Float32Array(numIn * numOut);
      for (let i = 0; i < numIn; i += 1) {
        for (let k = 0; k < numOut; k += 1) {
          values[k * numIn + i] = this.averageParams[kernel + i * numOut + k];
        }
      }
      const biases = this.averageParams.slice(bias, bias + numOut);
      tensors.push({ name: `${name}.bias`, shape: [numOut], values: biases });
      tensors.push({ name: `${name}.kernel`, shape: [numOut, numIn], values });
    });
    return tensors;
  }
}

// Add a multiple of numbers of a list to those of another one.
function addMultiple(sums, at, factor, list, from, count) {
  for (let k = 0; k < count; k += 1) sums[at + k] += factor * list[from + k];
}

function product(list, from, other, at, count) {
  let sum = 0;
  for (let k = 0; k < count; k += 1) sum += list[from + k] * other[at + k];
  return sum;
}
