// Agents as players: the forward pass of a network as in networks/mlp.py or, of integers,
// networks/integer_network.py, the look-up in a table as in networks/table.py, and the choice
// of a move as in players/saved_agents.py and solver/corrections.py.

import { correctionFinder } from "./corrections.js";

// Values of a network this close to the highest one are equal. Python computes in float32,
// whose numbers just below 1 are 2 ** -24 apart, and its tanh is 1 where the real one is
// up to four such steps below it. Then several moves win with the value 1, and the first
// of them on the canonical board is played. A larger tolerance would join values that
// Python tells apart.
const TOLERANCE = 2 ** -22;

const PATCH_SIDE = 4; // as in networks/patches.py
const LARGEST = 127; // the largest activation of a network of integers
// A number of at least 0 that is added to this one is rounded to an integer, ties to even.
const ROUNDER = 2 ** 52;

// The functions of the hidden layers, by their names in an agent's settings.
export const ACTIVATIONS = {
  relu: (x) => (x > 0 ? x : 0),
  tanh: Math.tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};

// The size of the patches of the board that filters see, `height` and `width` in cells,
// and how many of them there are: `down` and `right`.
export function patchOf(rules) {
  const [height, width] = [rules.rows, rules.columns].map((side) => Math.min(side, PATCH_SIDE));
  return { height, width, down: rules.rows - height + 1, right: rules.columns - width + 1 };
}

// A kernel as (inputs, outputs), row by row; in the file it is (outputs, inputs).
function transpose(kernel, numOutputs) {
  const numInputs = kernel.length / numOutputs;
  const rows = new Float32Array(kernel.length);
  for (let k = 0; k < numOutputs; k += 1) {
    for (let i = 0; i < numInputs; i += 1) rows[i * numOutputs + k] = kernel[k * numInputs + i];
  }
  return rows;
}

// The filters as a linear layer, as in networks/mlp.py.
function expandFilters(rules, numPlanes, filters, numOutputs) {
  const { height, width, down, right } = patchOf(rules);
  const numPatches = down * right;
  const numEntries = numPlanes * height * width;
  const numFilters = filters.length / numEntries;
  const kernel = new Float32Array(numPlanes * rules.numCells * numOutputs);
  for (let filter = 0; filter < numFilters; filter += 1) {
    for (let patch = 0; patch < numPatches; patch += 1) {
      const [top, left] = [Math.floor(patch / right), patch % right];
      for (let entry = 0; entry < numEntries; entry += 1) {
        const plane = Math.floor(entry / (height * width));
        const row = top + Math.floor((entry % (height * width)) / width);
        const cell = row * rules.columns + left + (entry % width);
        const input = cell * numPlanes + plane;
        kernel[input * numOutputs + filter * numPatches + patch] =
          filters[filter * numEntries + entry];
      }
    }
  }
  return kernel;
}

// The activations after a hidden layer of integers, in place of its sums. A sum and a scale
// have 24 bits each, so their product is exact until it is rounded to float32.
function scaleAndRound(sums, scale) {
  const perScale = sums.length / scale.length; // the patches of a filter
  for (let k = 0; k < sums.length; k += 1) {
    const scaled = Math.fround(sums[k] * scale[Math.floor(k / perScale)]);
    sums[k] = scaled > 0 ? Math.min(scaled + ROUNDER - ROUNDER, LARGEST) : 0;
  }
}

// A network: { forward, steps }. `forward` is a function from the canonical stones to the outputs
// of all heads, head by head: values, or the integers of the last layer. The integers are exact in
// these lists of floats. Each step is a layer, whose `sums` are its outputs of the latest stones.
function makeNetwork(rules, { config, layers, isInteger }) {
  const numPlanes = config.two_planes ? 2 : 1;
  const activate = ACTIVATIONS[config.activation];
  const steps = layers.map(({ kernel, bias, scale }, depth) => {
    const isFilters = config.filters > 0 && depth === 0;
    return {
      kernel: isFilters
        ? expandFilters(rules, numPlanes, kernel, bias.length)
        : transpose(kernel, bias.length),
      bias,
      scale,
      sums: new Float64Array(bias.length),
      isLast: depth === layers.length - 1,
    };
  });
  const inputs = new Float64Array(numPlanes * rules.numCells);
  const forward = (stones) => {
    for (let cell = 0; cell < stones.length; cell += 1) {
      if (numPlanes === 1) inputs[cell] = stones[cell];
      else {
        inputs[2 * cell] = stones[cell] > 0 ? 1 : 0;
        inputs[2 * cell + 1] = stones[cell] < 0 ? 1 : 0;
      }
    }
    let values = inputs;
    for (const { kernel, bias, scale, sums, isLast } of steps) {
      sums.set(bias);
      addProduct(sums, values, kernel);
      if (!isInteger) {
        const finish = isLast ? Math.tanh : activate;
        for (let k = 0; k < sums.length; k += 1) sums[k] = finish(sums[k]);
      } else if (!isLast) scaleAndRound(sums, scale);
      values = sums;
    }
    return values;
  };
  return { forward, steps };
}

// Add the products of values and rows of a kernel. Many values are 0 and are left out.
function addProduct(sums, values, kernel) {
  const size = sums.length;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (value === 0) continue;
    const row = i * size;
    for (let k = 0; k < size; k += 1) sums[k] += value * kernel[row + k];
  }
}

// The positions of a table's rows: each of the game, in the order of Python's tree.
class TableRows {
  // `text` is the `cells` of tic_tac_toe.json.
  constructor(rules, text) {
    this.rules = rules;
    this.rows = new Map();
    const cells = atob(text);
    const size = rules.numCells;
    for (let row = 0; row * size < cells.length; row += 1) {
      const stones = Array.from({ length: size }, (_, i) => cells.charCodeAt(row * size + i));
      this.rows.set(stones.join(""), row);
    }
  }

  get size() {
    return this.rows.size;
  }

  // The row of a position, or of the symmetric position with the first row.
  row({ cells }, view = this.rules.views[0]) {
    return this.rows.get(view.cells.map((cell) => (cells[cell] + 3) % 3).join(""));
  }

  firstRow(position) {
    return Math.min(...this.rules.views.map((view) => this.row(position, view)));
  }
}

// A function from a position and its canonical board to the values of all heads, head by
// head, of a table with a row for each position.
function makeTable({ table: values }, rows) {
  const size = values.length / rows.size;
  return (stones, sign) => {
    const row = rows.row({ cells: stones.map((stone) => sign * stone) });
    return values.subarray(row * size, (row + 1) * size);
  };
}

// Those of the actions whose values are the highest. `isExact` says that the values are
// Python's to the last bit: those of tables, and scores of a network of integers.
export function highestOf(actions, values, isExact) {
  const highest = Math.max(...actions.map((action) => values[action]));
  const lowest = isExact ? highest : highest - TOLERANCE;
  return actions.filter((action) => !(values[action] < lowest));
}

// An agent that plays: `scores(position)` are the numbers of the actions that it compares,
// NaN where illegal, `values(position)` are the actions' values to the mover, and
// `move(position)` is its action. `isSymmetric` says that it plays mirrored moves on mirror
// images.
class Player {
  constructor(rules, agent, rows) {
    const { config, corrections } = agent;
    this.rules = rules;
    this.agent = agent;
    this.gamma = agent.gamma;
    this.isTable = agent.kind === "table";
    // In an enumerable game, the lowest of the best actions is played, as in
    // players/saved_agents.py.
    this.isSymmetric = config.canonical && !rules.isEnumerable;
    this.rows = rows;
    this.hasAfterStates = this.isTable && config.table_key === "after-state";
    if (!this.isTable) {
      this.network = makeNetwork(rules, agent);
      const { forward } = this.network;
      this.forward = rules.isEnumerable && config.canonical ? remembered(forward) : forward;
    } else if (!this.hasAfterStates) this.forward = makeTable(agent, rows);
    // The action that a position's correction is, or null without one.
    this.correction =
      corrections === null ? () => null : correctionFinder(rules, corrections, this.isSymmetric);
  }

  scores(position) {
    const scores = new Float64Array(this.rules.numActions).fill(NaN);
    const legal = this.rules.legal(position);
    if (this.hasAfterStates) {
      for (const action of legal) scores[action] = this.afterValue(position, action);
      return scores;
    }
    const { stones, places } = this.agentBoard(position);
    const heads = this.forward(stones, position.sign);
    for (const action of legal) {
      const place = places[action];
      scores[action] = this.combineHeads(heads[place], heads[this.rules.numActions + place]);
    }
    return scores;
  }

  // The scores themselves, but for a network of integers.
  values(position) {
    const scores = this.scores(position);
    if (!this.agent.isInteger) return scores;
    const [scale] = this.agent.layers.at(-1).scale;
    return scores.map((score) => Math.tanh(Math.fround(score * scale)));
  }

  // The board that the network or table reads, as `canonical` of the rules returns it.
  agentBoard(position) {
    if (this.agent.config.canonical) return this.rules.canonical(position);
    const stones = position.cells.map((stone) => position.sign * stone);
    const [{ places, cells }] = this.rules.views;
    return { stones, places, cells };
  }

  afterValue(position, action) {
    const { config, numHeads, table } = this.agent;
    const after = this.rules.after(position, action);
    const row = config.canonical ? this.rows.firstRow(after) : this.rows.row(after);
    return this.combineHeads(table[numHeads * row], table[numHeads * row + 1]);
  }

  // The value of an action from the heads' values; the mean of two tables is float32.
  combineHeads(first, second) {
    if (this.agent.heads !== "two-tables") return first;
    return Math.fround(Math.fround(first + second) / 2);
  }

  // The action with the highest of these numbers.
  choose(position, numbers, isExact) {
    const legal = this.rules.legal(position);
    const best = highestOf(legal, numbers, isExact);
    if (!this.isSymmetric || best.length === 1) return best[0] ?? null;
    const { places } = this.rules.canonical(position);
    return best.reduce((a, b) => (places[b] < places[a] ? b : a));
  }

  // Its action: a correction, or the best one by its scores or by the values of a search.
  move(position, searched = null) {
    const correction = this.correction(position);
    if (correction !== null) return correction;
    if (searched !== null) return this.choose(position, searched, this.isTable);
    return this.choose(position, this.scores(position), this.isTable || this.agent.isInteger);
  }
}

// A network's function of the stones, which keeps its results: in an enumerable game there are
// few boards, and many positions have the same one.
function remembered(forward) {
  const results = new Map();
  return (stones, sign) => {
    const key = `${stones.join("")}${sign}`;
    if (!results.has(key)) results.set(key, forward(stones, sign).slice());
    return results.get(key);
  };
}

const tableRows = new Map(); // name of an enumerable game -> its TableRows

function rowsOf(rules, cells) {
  if (!tableRows.has(rules.envId)) tableRows.set(rules.envId, new TableRows(rules, cells));
  return tableRows.get(rules.envId);
}

// The player of an agent, which `readAgent` returned. `cells` is as in tic_tac_toe.json;
// only a table needs it. Throws an Error if the table's rows are not the game's.
export function makePlayer(rules, agent, cells = null) {
  if (agent.kind !== "table") return new Player(rules, agent, null);
  const rows = rowsOf(rules, cells);
  const { table_key: key } = agent.config;
  const [numHeads, numActions] = [agent.numHeads, rules.numActions];
  const perRow = key === "after-state" ? numHeads : numHeads * numActions;
  if (agent.table.length !== rows.size * perRow) {
    throw new Error("its table has another number of positions");
  }
  return new Player(rules, agent, rows);
}
