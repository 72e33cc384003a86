// What the page's learners compute in the cases of tests/web/test_learner.py: the largest
// difference from Python's numbers for each part of the state after an update, and how far
// the update changed it.
//
//   node learner_cases.mjs STATIC CASES

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, path] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`));
const { Rules } = await load("engine/rules.js");
const { Learner, Table, makeGraph } = await load("engine/learner.js");
const { Network } = await load("engine/network_learner.js");

const cases = JSON.parse(readFileSync(path, "utf-8"));
const rules = new Rules("tic_tac_toe");
const graph = makeGraph(rules, JSON.parse(readFileSync(`${folder}/tic_tac_toe.json`)).cells);

function floats(text) {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  return new Float32Array(bytes.buffer);
}

// The weights of a network by their names in a file as one list, whose kernels are (inputs,
// outputs).
function asList(network, tensors) {
  const list = new Float32Array(network.params.length);
  network.layers.forEach(({ numIn, numOut, kernel, bias }, number) => {
    const name = `layers.layers.${2 * number}`;
    const values = floats(tensors[`${name}.kernel`]);
    for (let i = 0; i < numIn; i += 1) {
      for (let k = 0; k < numOut; k += 1) list[kernel + i * numOut + k] = values[k * numIn + i];
    }
    list.set(floats(tensors[`${name}.bias`]), bias);
  });
  return list;
}

// The lists of a model that Python's state has, by the names of the cases.
function listsOf(model) {
  if (model instanceof Table) return { params: model.values, target: model.targetValues };
  const { params, targetParams, averageParams, means, squares } = model;
  return { params, target: targetParams, average: averageParams, means, squares };
}

function largest(list) {
  return list.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

function difference(own, python) {
  if (own.length !== python.length) return Infinity;
  return largest(own.map((value, i) => value - python[i]));
}

const results = cases.map(({ config, before, numbers, after }) => {
  const isTable = config.network === "table";
  const model = isTable ? new Table(graph, config) : new Network(graph, config, () => 0.5);
  const read = (tensors) => (isTable ? floats(tensors.values) : asList(model, tensors));
  const learner = new Learner(graph, model, config);
  learner.positions.set(before.positions);
  for (const [name, list] of Object.entries(listsOf(model))) list.set(read(before[name]));
  if (isTable) model.visited.set(before.visited);
  else model.steps = before.steps;
  const { loss, ...counts } = learner.update({ ...numbers, uniform: floats(numbers.uniform) });
  const result = { actions: [...learner.actions], positions: [...learner.positions], counts };
  result.visited = isTable ? [...model.visited] : null;
  result.differences = { loss: Math.abs(loss - after.loss) };
  result.changes = {};
  result.shares = {}; // of the largest value in a list
  for (const [name, list] of Object.entries(listsOf(model))) {
    result.differences[name] = difference(list, read(after[name]));
    result.changes[name] = difference(list, read(before[name]));
    result.shares[name] = result.differences[name] / largest(list);
  }
  return result;
});
process.stdout.write(JSON.stringify(results));
