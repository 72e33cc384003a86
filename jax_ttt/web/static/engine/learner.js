// Deep Q-learning of tic-tac-toe by self-play with the two-ply backup, as dqn/learner.py
// computes it. A learner plays a move in each of its games at once, and learns from these
// moves by one step of its model: the table here, or the network of network_learner.js.

const HEADS = 2; // values of an action: to its mover, and to the waiting player

// The gradient of the loss of an error, by the setting `loss`; and the loss itself.
const LOSSES = {
  mse: { cost: (error) => error ** 2 / 2, slope: (error) => error },
  huber: {
    cost: (error) => (Math.abs(error) <= 1 ? error ** 2 / 2 : Math.abs(error) - 0.5),
    slope: (error) => Math.max(-1, Math.min(1, error)),
  },
};

// All positions of an enumerable game as numbers, in the order of Python's tree. `text` is
// the `cells` of tic_tac_toe.json. Of each position `p`:
// - `after[p * numActions + action]`: the position after a move, -1 where it is illegal
// - `isOver[p]`, and `isWon[p]`: whether the player who moved last has won
// - `board[p]`: the position of its canonical board
// - `places[p * numActions + action]`: the action on the canonical board
// - `stones`, numCells each: 1 for the mover's stones, -1 for the opponent's
export function makeGraph(rules, text) {
  const { numActions, numCells } = rules;
  const bytes = atob(text);
  const numPositions = bytes.length / numCells;
  const numbers = new Map(); // the number of a position, by its key
  const positions = [];
  for (let p = 0; p < numPositions; p += 1) {
    const cells = Int8Array.from({ length: numCells }, (_, i) => {
      const digit = bytes.charCodeAt(p * numCells + i);
      return digit === 2 ? -1 : digit;
    });
    const sign = cells.reduce((sum, stone) => sum + stone, 0) === 0 ? 1 : -1;
    const position = { cells, sign, last: null, row: rules.winningCells(cells) };
    positions.push(position);
    numbers.set(rules.key(position), p);
  }
  const graph = {
    numActions,
    numCells,
    numPositions,
    numOutputs: HEADS * numActions,
    start: numbers.get(rules.key(rules.start)),
    after: new Int16Array(numPositions * numActions).fill(-1),
    isOver: new Uint8Array(numPositions),
    isWon: new Uint8Array(numPositions),
    board: new Int16Array(numPositions),
    places: new Uint8Array(numPositions * numActions),
    stones: new Int8Array(numPositions * numCells),
  };
  positions.forEach((position, p) => {
    const { cells, sign, row } = position;
    graph.isOver[p] = Number(rules.isOver(position));
    graph.isWon[p] = Number(row.length > 0);
    const { stones, places } = rules.canonical(position);
    const canonical = { cells: stones.map((stone) => sign * stone) };
    graph.board[p] = numbers.get(rules.key(canonical));
    graph.places.set(places, p * numActions);
    graph.stones.set(cells.map((stone) => sign * stone), p * numCells);
    for (const action of rules.legal(position)) {
      graph.after[p * numActions + action] = numbers.get(rules.key(rules.after(position, action)));
    }
  });
  return graph;
}

// A source of uniform random numbers in [0, 1) with 24 bits each, as float32 has (mulberry32).
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 8) / 2 ** 24;
  };
}

// The canonical boards of a batch of positions, each once, and a model's outputs for them.
class Batch {
  constructor(graph, size) {
    this.graph = graph;
    this.boards = new Int16Array(size); // positions; the first `count` are in use
    this.count = 0;
    this.slots = new Int16Array(graph.numPositions).fill(-1); // place in `boards`
    this.outputs = new Float32Array(size * graph.numOutputs);
  }

  collect(positions) {
    const { board, isOver } = this.graph;
    for (let i = 0; i < this.count; i += 1) this.slots[this.boards[i]] = -1;
    this.count = 0;
    for (const position of positions) {
      const own = board[position];
      if (isOver[position] || this.slots[own] >= 0) continue;
      this.slots[own] = this.count;
      this.boards[this.count] = own;
      this.count += 1;
    }
  }

  // The place in `outputs` of an action's value to the mover; the one to the waiting
  // player is `numActions` later.
  index(position, action) {
    const { board, numActions, numOutputs, places } = this.graph;
    return this.slots[board[position]] * numOutputs + places[position * numActions + action];
  }

  // The legal action with the highest value to the mover, the first one among equals.
  greedy(position) {
    const { after, numActions } = this.graph;
    let best = -1;
    let highest = -Infinity;
    for (let action = 0; action < numActions; action += 1) {
      if (after[position * numActions + action] < 0) continue;
      const value = this.outputs[this.index(position, action)];
      if (value > highest || best < 0) [best, highest] = [action, value];
    }
    return best;
  }
}

// `model` has the weights: a `Table`, or a `Network` with the same methods. The settings are
// those of config/settings.py.
export class Learner {
  graph; model; numGames; tremble;

  constructor(graph, model, config) {
    const numGames = config.num_envs;
    Object.assign(this, { graph, model, numGames, tremble: Math.fround(config.tremble) });
    this.loss = LOSSES[config.loss];
    this.positions = new Int16Array(numGames).fill(graph.start); // of the games
    this.actions = new Uint8Array(numGames); // played in the last update
    this.next = new Int16Array(numGames); // the positions after them
    this.before = new Batch(graph, numGames);
    this.after = new Batch(graph, numGames);
    this.gradients = new Float64Array(numGames * graph.numOutputs);
    this.visits = new Int32Array(numGames * graph.numOutputs);
  }

  // Play and learn. `uniform` has a random number in [0, 1) for each game, as
  // `draw_random_numbers` of dqn/random_numbers.py. Returns { loss, games (that ended), wins
  // and losses (of the first player) }.
  update({ uniform, epsilon, learningRate, gamma }) {
    const { positions, actions, next } = this;
    this.evaluate(positions);
    this.play(uniform, Math.fround(epsilon));
    const loss = this.learn({ positions, actions, next, learningRate, gamma });
    return { loss, ...this.restart() };
  }

  // Learn the moves of a finished game of any two players, the last one first, each by a step
  // of its own, in which it weighs as much as one of the moves of an update.
  learnGame({ actions, learningRate, gamma }) {
    const { graph, model } = this;
    const positions = [graph.start];
    for (const action of actions) {
      positions.push(graph.after[positions.at(-1) * graph.numActions + action]);
    }
    model.movingAverageAlong(() => {
      for (let ply = actions.length - 1; ply >= 0; ply -= 1) {
        const move = { positions: [positions[ply]], actions: [actions[ply]], next: [positions[ply + 1]] };
        this.evaluate(move.positions);
        this.learn({ ...move, learningRate, gamma });
      }
    });
  }

  evaluate(positions) {
    this.before.collect(positions);
    this.model.evaluate(this.before);
  }

  // Take a step of the model on moves whose positions were evaluated before. Returns the loss.
  learn({ positions, actions, next, learningRate, gamma }) {
    const { model, before, after, gradients, visits, numGames } = this;
    after.collect(next);
    model.evaluateTarget(after);
    const loss = this.setGradients({ positions, actions, next, gamma: Math.fround(gamma) });
    model.learn({ batch: before, gradients, visits, numGames, learningRate });
    return loss;
  }

  // Choose an epsilon-greedy move in every game, as `epsilon_greedy` of dqn/equations.py.
  play(uniform, epsilon) {
    const { numActions, after } = this.graph;
    for (let game = 0; game < this.numGames; game += 1) {
      const position = this.positions[game];
      const isRandom = uniform[game] < epsilon;
      const action = isRandom
        ? this.randomAction(position, Math.fround(uniform[game] / epsilon))
        : this.before.greedy(position);
      this.actions[game] = action;
      this.next[game] = after[position * numActions + action];
    }
  }

  randomAction(position, uniform) {
    const { numActions, after } = this.graph;
    const legal = [];
    for (let action = 0; action < numActions; action += 1) {
      if (after[position * numActions + action] >= 0) legal.push(action);
    }
    // The product may be rounded up to the number of actions.
    return legal[Math.min(Math.floor(Math.fround(uniform * legal.length)), legal.length - 1)];
  }

  // Set the gradients of the loss by the values of the played actions, and how often each
  // was played. Returns the loss.
  setGradients({ positions, actions, next, gamma }) {
    const { graph, before, gradients, visits, numGames } = this;
    const size = before.count * graph.numOutputs;
    gradients.fill(0, 0, size);
    visits.fill(0, 0, size);
    let loss = 0;
    for (let game = 0; game < positions.length; game += 1) {
      const index = before.index(positions[game], actions[game]);
      this.targets(next[game], gamma).forEach((target, head) => {
        const entry = index + head * graph.numActions;
        const error = before.outputs[entry] - target;
        loss += this.loss.cost(error) / numGames;
        gradients[entry] += this.loss.slope(error) / numGames;
        visits[entry] += 1;
      });
    }
    return loss;
  }

  // The targets of a move that led to a position: of its value to the mover and of the one
  // to the waiting player, as `two_ply_targets` of dqn/equations.py.
  targets(position, gamma) {
    const { graph, after, tremble } = this;
    const { numActions } = graph;
    if (graph.isOver[position]) {
      const reward = graph.isWon[position];
      return [reward, -reward];
    }
    const best = after.index(position, after.greedy(position));
    let sum = 0;
    let count = 0;
    for (let action = 0; action < numActions; action += 1) {
      if (graph.after[position * numActions + action] < 0) continue;
      sum += after.outputs[after.index(position, action) + numActions];
      count += 1;
    }
    const reply = after.outputs[best + numActions];
    const expected = (1 - tremble) * reply + (tremble * sum) / count;
    return [gamma * expected, gamma * after.outputs[best]];
  }

  // Replace finished games by new ones, and count them.
  restart() {
    const { isOver, isWon, start, stones, numCells } = this.graph;
    const counts = { games: 0, wins: 0, losses: 0 };
    this.next.forEach((position, game) => {
      this.positions[game] = isOver[position] ? start : position;
      if (!isOver[position]) return;
      counts.games += 1;
      if (!isWon[position]) return;
      // The first player has moved last if there is an odd number of stones.
      const cells = stones.subarray(position * numCells, (position + 1) * numCells);
      const isFirst = cells.reduce((sum, stone) => sum + Math.abs(stone), 0) % 2 === 1;
      if (isFirst) counts.wins += 1;
      else counts.losses += 1;
    });
    return counts;
  }
}

// A table with a row for each position, as networks/table.py, and plain gradient steps: a
// visit removes the share `learningRate` of an entry's mean error.
export class Table {
  constructor(graph, config) {
    const { initial_value: initialValue } = config;
    this.graph = graph;
    this.tau = Math.fround(config.tau);
    this.values = new Float32Array(graph.numPositions * graph.numOutputs).fill(initialValue);
    this.targetValues = this.values.slice();
    this.visited = new Uint8Array(graph.numPositions);
  }

  // Put the values of a batch's boards into its outputs.
  evaluate(batch) {
    this.copyRows(this.values, batch);
  }

  // The same by the target network.
  evaluateTarget(batch) {
    this.copyRows(this.targetValues, batch);
  }

  copyRows(values, { boards, count, outputs }) {
    const { numOutputs } = this.graph;
    for (let slot = 0; slot < count; slot += 1) {
      const row = boards[slot] * numOutputs;
      for (let i = 0; i < numOutputs; i += 1) outputs[slot * numOutputs + i] = values[row + i];
    }
  }

  // Take a gradient step on a batch, and update the target network. `gradients` are those of
  // the loss, a mean over the games; `visits` count the moves of each entry.
  learn({ batch, gradients, visits, numGames, learningRate }) {
    const { numOutputs } = this.graph;
    const { values } = this;
    for (let slot = 0; slot < batch.count; slot += 1) {
      const board = batch.boards[slot];
      for (let i = 0; i < numOutputs; i += 1) {
        const entry = slot * numOutputs + i;
        if (visits[entry] === 0) continue;
        const step = (gradients[entry] * numGames) / visits[entry];
        values[board * numOutputs + i] -= Math.fround(learningRate) * step;
        this.visited[board] = 1;
      }
    }
    moveTowards(this.targetValues, values, this.tau);
  }

  // A table has no average of its weights.
  movingAverageAlong(learn) {
    learn();
  }

  get isSaturated() {
    return false;
  }

  // Boards that were learned.
  get numVisited() {
    return this.visited.reduce((sum, isVisited) => sum + isVisited, 0);
  }

  // The tensors of the agent's file: [{ name, shape, values }], which later steps leave as
  // they are.
  tensors() {
    const { numPositions, numOutputs } = this.graph;
    return [{ name: "values", shape: [numPositions, numOutputs], values: this.values.slice() }];
  }
}

// Move an average towards weights by a share: `polyak` of dqn/equations.py.
export function moveTowards(average, weights, share) {
  if (share === 1) {
    average.set(weights);
    return;
  }
  for (let i = 0; i < weights.length; i += 1) {
    average[i] = share * weights[i] + (1 - share) * average[i];
  }
}
