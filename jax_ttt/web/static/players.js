// Agents as players: the forward pass of a network as in networks/mlp.py, the look-up in a
// table as in networks/table.py, and the choice of a move as in players/network_player.py.

// Values of a network this close to the highest one are equal. Python computes in float32,
// whose numbers just below 1 are 2 ** -24 apart, and its tanh is 1 where the real one is
// up to four such steps below it. Then several moves win with the value 1, and the first
// of them on the canonical board is played. A larger tolerance would join values that
// Python tells apart.
const TOLERANCE = 2 ** -22;

const PATCH_SIDE = 4; // as in config/settings.py

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
function filterLayer(rules, numPlanes, filters, bias) {
  const { height, width, down, right } = patchOf(rules);
  const numPatches = down * right;
  const numEntries = numPlanes * height * width;
  const numFilters = filters.length / numEntries;
  const kernel = new Float32Array(numPlanes * rules.numCells * bias.length);
  for (let filter = 0; filter < numFilters; filter += 1) {
    for (let patch = 0; patch < numPatches; patch += 1) {
      const [top, left] = [Math.floor(patch / right), patch % right];
      for (let entry = 0; entry < numEntries; entry += 1) {
        const plane = Math.floor(entry / (height * width));
        const row = top + Math.floor((entry % (height * width)) / width);
        const cell = row * rules.columns + left + (entry % width);
        const input = cell * numPlanes + plane;
        kernel[input * bias.length + filter * numPatches + patch] =
          filters[filter * numEntries + entry];
      }
    }
  }
  return { kernel, bias };
}

// A function from the canonical stones to the values of all heads, head by head.
function makeNetwork(rules, { config, tensors }) {
  const numPlanes = config.two_planes ? 2 : 1;
  const layers = [];
  if (config.filters) {
    const filters = tensors["convolution.filters.kernel"];
    layers.push(filterLayer(rules, numPlanes, filters, tensors["convolution.bias"]));
  }
  for (let layer = 0; layer <= config.hidden_layers; layer += 1) {
    const bias = tensors[`layers.layers.${2 * layer}.bias`];
    const kernel = transpose(tensors[`layers.layers.${2 * layer}.kernel`], bias.length);
    layers.push({ kernel, bias });
  }
  const activate = ACTIVATIONS[config.activation];
  const inputs = new Float64Array(numPlanes * rules.numCells);
  const outputs = layers.map(({ bias }) => new Float64Array(bias.length));
  return (stones) => {
    for (let cell = 0; cell < stones.length; cell += 1) {
      if (numPlanes === 1) inputs[cell] = stones[cell];
      else {
        inputs[2 * cell] = stones[cell] > 0 ? 1 : 0;
        inputs[2 * cell + 1] = stones[cell] < 0 ? 1 : 0;
      }
    }
    let values = inputs;
    layers.forEach(({ kernel, bias }, depth) => {
      const sums = outputs[depth];
      sums.set(bias);
      addProduct(sums, values, kernel);
      const isLast = depth === layers.length - 1;
      for (let k = 0; k < sums.length; k += 1) {
        sums[k] = isLast ? Math.tanh(sums[k]) : activate(sums[k]);
      }
      values = sums;
    });
    return values;
  };
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
      this.rows.set(this.number(stones), row);
    }
  }

  get size() {
    return this.rows.size;
  }

  // A number in base 3, the last cell the lowest digit, each a digit from 0 to 2.
  number(digits) {
    return digits.reduce((number, digit) => 3 * number + digit, 0);
  }

  // The row of a position, or of the symmetric position with the first row.
  row({ cells }, view = this.rules.views[0]) {
    return this.rows.get(this.number(view.cells.map((cell) => (cells[cell] + 3) % 3)));
  }

  firstRow(position) {
    return Math.min(...this.rules.views.map((view) => this.row(position, view)));
  }
}

// A function from a position and its canonical board to the values of all heads, head by
// head, of a table with a row for each position or for each board.
function makeTable(rules, { config, tensors }, rows) {
  const { values } = tensors;
  const size = values.length / (config.table_key === "hash" ? 3 ** rules.numCells : rows.size);
  return (stones, sign) => {
    const row =
      config.table_key === "hash"
        ? rows.number(Array.from(stones, (stone) => stone + 1))
        : rows.row({ cells: stones.map((stone) => sign * stone) });
    return values.subarray(row * size, (row + 1) * size);
  };
}

// Those of the actions whose values are the highest.
export function highestOf(actions, values, isTable) {
  const highest = Math.max(...actions.map((action) => values[action]));
  const lowest = isTable ? highest : highest - TOLERANCE;
  return actions.filter((action) => !(values[action] < lowest));
}

// An agent that plays: `values(position)` are the values of the actions to the mover, NaN
// where illegal, and `move(position)` is its action. `choose(position, values)` is the
// action that it plays by other values of the same kind, such as a search's.
// `isSymmetric` says that it plays mirrored moves on mirror images.
class Player {
  constructor(rules, agent, rows) {
    const { config } = agent;
    this.rules = rules;
    this.agent = agent;
    this.gamma = agent.gamma;
    this.isTable = agent.kind === "table";
    // In an enumerable game, the lowest of the best actions is played, as in
    // players/network_player.py.
    this.isSymmetric = config.canonical && !rules.isEnumerable;
    this.rows = rows;
    this.hasAfterStates = this.isTable && config.table_key === "after-state";
    if (!this.hasAfterStates) {
      this.forward = this.isTable ? makeTable(rules, agent, rows) : makeNetwork(rules, agent);
    }
  }

  values(position) {
    const values = new Float64Array(this.rules.numActions).fill(NaN);
    const legal = this.rules.legal(position);
    if (this.hasAfterStates) {
      for (const action of legal) values[action] = this.afterValue(position, action);
      return values;
    }
    const { stones, places } = this.agentBoard(position);
    const heads = this.forward(stones, position.sign);
    for (const action of legal) {
      const place = places[action];
      values[action] = this.combineHeads(heads[place], heads[this.rules.numActions + place]);
    }
    return values;
  }

  // The board that the network or table reads, as `canonical` of the rules returns it.
  agentBoard(position) {
    if (this.agent.config.canonical) return this.rules.canonical(position);
    const stones = position.cells.map((stone) => position.sign * stone);
    return { stones, places: this.rules.views[0].places };
  }

  afterValue(position, action) {
    const { config, numHeads, tensors } = this.agent;
    const after = this.rules.after(position, action);
    const row = config.canonical ? this.rows.firstRow(after) : this.rows.row(after);
    return this.combineHeads(tensors.values[numHeads * row], tensors.values[numHeads * row + 1]);
  }

  // The value of an action from the heads' values; the mean of two tables is float32.
  combineHeads(first, second) {
    if (this.agent.heads !== "two-tables") return first;
    return Math.fround(Math.fround(first + second) / 2);
  }

  choose(position, values) {
    const legal = this.rules.legal(position);
    const best = highestOf(legal, values, this.isTable);
    if (!this.isSymmetric || best.length === 1) return best[0] ?? null;
    const { places } = this.rules.canonical(position);
    return best.reduce((a, b) => (places[b] < places[a] ? b : a));
  }

  move(position) {
    return this.choose(position, this.values(position));
  }
}

// The player of an agent, which `readAgent` returned. `cells` is as in tic_tac_toe.json;
// only a table needs it. Throws an Error if the table's rows are not the game's.
export function makePlayer(rules, agent, cells = null) {
  if (agent.kind !== "table") return new Player(rules, agent, null);
  const rows = new TableRows(rules, cells);
  const numRows = agent.config.table_key === "hash" ? 3 ** rules.numCells : rows.size;
  const [numHeads, numActions] = [agent.numHeads, rules.numActions];
  const perRow = agent.config.table_key === "after-state" ? numHeads : numHeads * numActions;
  if (agent.tensors.values.length !== numRows * perRow) {
    throw new Error("its table has another number of positions");
  }
  return new Player(rules, agent, rows);
}
