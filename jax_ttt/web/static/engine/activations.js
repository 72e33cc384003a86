// What happens in a network of one plane in one position: its strongest units, and what they add
// to the units of the next layer.

// The units of the layer with the largest activations: [{ unit, value }].
function strongestOf(values, count) {
  const units = Array.from(values, (value, unit) => ({ unit, value }));
  return units.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, count);
}

// What `from` adds to each of `to`, an activation times a weight: [{ from, to, amount }], places
// in both lists. A unit of integers has a scale of its own.
function linksOf(from, to, { kernel, scale, sums }) {
  return from.flatMap((source, i) =>
    to.map((target, k) => {
      const weight = kernel[source.unit * sums.length + target.unit];
      const factor = scale ? (scale.length > 1 ? scale[target.unit] : scale[0]) : 1;
      return { from: i, to: k, amount: source.value * weight * factor };
    }),
  );
}

// The layers of a network's player in a position, each a list of { unit, value }: all squares as the
// mover sees them (1 its own stone, -1 the other's), the `count` strongest units of each hidden
// layer, and the values of the squares' moves, NaN where illegal. Between them the `links`, one
// list fewer.
export function activationsOf(player, position, count) {
  const { forward, steps } = player.network;
  const values = player.values(position);
  const { stones, places, cells } = player.agentBoard(position);
  forward(stones); // sets the sums of the steps
  const inputs = [];
  stones.forEach((value, unit) => (inputs[cells[unit]] = { unit, value }));
  const hidden = steps.slice(0, -1).map(({ sums }) => strongestOf(sums, count));
  const outputs = Array.from(places, (unit, action) => ({ unit, value: values[action] }));
  const layers = [inputs, ...hidden, outputs];
  const links = steps.map((step, i) => linksOf(layers[i], layers[i + 1], step));
  return { layers, links };
}
