// An agent's file: a safetensors file with a description as JSON, as players/saved_agents.py
// writes it. People add files from anywhere, so everything that the page uses is checked.
// That a file is whole proves nothing about its grade: see `knownOf` in grades.js.

import { NO_COLUMNS, check, readCorrections } from "../engine/corrections.js";
import { ACTIVATIONS, patchOf } from "../engine/players.js";
import { Rules, SEATS, SIDES, rulesOf } from "../engine/rules.js";
import { sha256 } from "./sha256.js";

export const VERSION = 3; // of files/json_records.py
const TABLE_KEYS = ["position", "after-state"];
// The seats that an agent learns, by the setting `seat`: as in config/settings.py.
const SEATS_OF = { both: ["first", "second"], first: ["first"], second: ["second"] };
const RESULTS = ["won", "drawn", "lost"];
const NOT_AGENT = "this is not an agent's file";
const NO_FIT = "its weights do not fit its settings";
// The types of numbers in tensors, by their names in the file: NumPy's name, and the array.
const DTYPES = {
  F32: { numpy: "<f4", List: Float32Array },
  I8: { numpy: "|i1", List: Int8Array },
  I16: { numpy: "<i2", List: Int16Array },
  I32: { numpy: "<i4", List: Int32Array },
  U8: { numpy: "|u1", List: Uint8Array },
  U64: { numpy: "<u8", List: BigUint64Array },
};
// As in networks/integer_network.py: the largest activation, and the first integer above it
// that float32 may not hold.
const LARGEST = 127;
const FIRST_INEXACT = 2 ** 24;

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWhole(value, low, high = Infinity) {
  return Number.isInteger(value) && value >= low && value <= high;
}

// Whether a value is absent, or right.
function isAbsentOr(isRight, value) {
  return value === undefined || value === null || isRight(value);
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(NOT_AGENT);
  }
}

// The header of a safetensors file, and the offset of its tensors in bytes.
function readHeader(bytes) {
  check(bytes.byteLength >= 8, NOT_AGENT);
  const length = Number(new DataView(bytes).getBigUint64(0, true));
  check(length <= bytes.byteLength - 8, NOT_AGENT);
  const head = parseJson(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  check(isObject(head), NOT_AGENT);
  return { head, begin: 8 + length };
}

function readDescription(head) {
  const text = head.__metadata__?.jax_ttt;
  check(typeof text === "string", NOT_AGENT);
  const record = parseJson(text);
  check(isObject(record) && record.kind === "agent" && isObject(record.config), NOT_AGENT);
  const { version, format_version: older } = record;
  const number = version === undefined ? "no format version" : `format ${version}`;
  const found = older === undefined ? number : `older format ${older}`;
  const isRead = older === undefined && version === VERSION;
  check(isRead, `the agent's file has ${found}; this page reads format ${VERSION}`);
  return { text, record };
}

// The bytes of a tensor.
function tensorBytes(bytes, begin, entry) {
  const isDescribed =
    isObject(entry) && Array.isArray(entry.shape) && Array.isArray(entry.data_offsets);
  check(isDescribed && Object.hasOwn(DTYPES, entry.dtype), NOT_AGENT);
  const [from, to] = entry.data_offsets;
  const isInside = isWhole(from, 0) && isWhole(to, from, bytes.byteLength - begin);
  check(isInside, "the agent's file is not complete");
  return new Uint8Array(bytes, begin + from, to - from);
}

export function joinBytes(parts) {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}

// The SHA-256 of a description without it and of tensors in the order of their names:
// [{ name, dtype, shape, content (bytes) }]. A promise.
export function digestOf(text, tensors) {
  const encoder = new TextEncoder();
  const parts = tensors.flatMap(({ name, dtype, shape, content }) => {
    const line = `\n[${JSON.stringify(name)}, "${DTYPES[dtype].numpy}", [${shape.join(", ")}]]\n`;
    return [encoder.encode(line), content];
  });
  return sha256(joinBytes([encoder.encode(text), ...parts]));
}

// Check the SHA-256 of the description, without this SHA-256 itself, and of all tensors, as
// files/tensor_file.py computes it.
async function checkDigest(bytes, { head, begin }, { text, record }) {
  const { sha256: expected } = record;
  const tensors = [];
  const names = Object.keys(head).filter((name) => name !== "__metadata__");
  for (const name of names.sort()) {
    const content = tensorBytes(bytes, begin, head[name]);
    const { dtype, shape } = head[name];
    tensors.push({ name, dtype, shape, content });
  }
  const digest = await digestOf(text.replace(`"sha256": "${expected}", `, ""), tensors);
  check(digest === expected, "its contents were changed after they were saved");
}

function isCount(value) {
  return isWhole(value, 0);
}

// Whether a value is a list of counts.
function areCounts(counts) {
  return Array.isArray(counts) && counts.every(isCount);
}

// Whether a value has a number of lines for each result, as Lines in config/grade.py.
function isLines(lines) {
  return isObject(lines) && RESULTS.every((result) => isCount(lines[result]));
}

// Whether a side loses a game of these actions.
function isLosingLine(rules, side, actions) {
  const positions = Array.isArray(actions) ? rules.positions(actions) : null;
  return positions !== null && rules.result(positions.at(-1), side) === "lost";
}

// Whether these are bounds of the rates of wins, draws and losses.
function areBounds(value) {
  return Array.isArray(value) && value.length === 3 && value.every(Number.isFinite);
}

// Whether the numbers and the line that the page shows of a file's grade are right, as
// SeatGrade in config/grade.py. Other fields are read only where they have a known value.
function isGrade(rules, grade) {
  if (!isObject(grade)) return false;
  return SIDES.every((side) => {
    const seat = grade[SEATS[side]] ?? {};
    const { num_corrections, num_positions, positions, lines, losing_line, low, high } = seat;
    return (
      isAbsentOr(areBounds, low) &&
      isAbsentOr(areBounds, high) &&
      isAbsentOr(isCount, num_corrections) &&
      isAbsentOr(isCount, num_positions) &&
      isAbsentOr(areCounts, positions) &&
      isAbsentOr(isLines, lines) &&
      isAbsentOr((actions) => isLosingLine(rules, side, actions), losing_line)
    );
  });
}

// How many values an action has: one; two, to the mover and to the opponent; or one from
// each of two tables. As HEAD_KIND_OF in config/settings.py.
function headsOf({ backup, double, network }) {
  if (backup === "two-ply") return "value-and-reply";
  return double && network === "table" ? "two-tables" : "value";
}

// The layers of a network: for each, its tensors with their names in the file, dtypes and
// shapes, as in networks/mlp.py, or for a network of integers networks/integer_network.py.
function networkLayers(rules, settings, numHeads, isInteger) {
  const numPlanes = settings.two_planes ? 2 : 1;
  const { height, width, down, right } = patchOf(rules);
  const sizes = new Array(settings.hidden_layers).fill(settings.hidden_size);
  sizes.push(numHeads * rules.numActions);
  const layers = [];
  const add = ({ kernel, bias, scale }, numInputs, biasShape, isLast) => {
    const kernelShape = [biasShape[0], numInputs];
    const layer = {
      kernel: { name: kernel, dtype: "F32", shape: kernelShape },
      bias: { name: bias, dtype: "F32", shape: biasShape },
    };
    if (isInteger) {
      layer.kernel.dtype = isLast ? "I16" : "I8";
      layer.bias.dtype = "I32";
      layer.scale = { name: scale, dtype: "F32", shape: isLast ? [] : biasShape.slice(0, 1) };
    }
    layers.push(layer);
  };
  let numInputs = rules.numCells * numPlanes;
  if (settings.filters) {
    const kernel = isInteger ? "convolution.kernel" : "convolution.filters.kernel";
    const names = { kernel, bias: "convolution.bias", scale: "convolution.scale" };
    add(names, height * width * numPlanes, [settings.filters, down * right], false);
    numInputs = settings.filters * down * right;
  }
  sizes.forEach((numOutputs, number) => {
    // The list of a float32 network has an activation after each layer.
    const name = isInteger ? `layer${number}` : `layers.layers.${2 * number}`;
    const names = { kernel: `${name}.kernel`, bias: `${name}.bias`, scale: `${name}.scale` };
    add(names, numInputs, [numOutputs], number === settings.hidden_layers);
    numInputs = numOutputs;
  });
  return layers;
}

// The tensor of a table's values, as in networks/table.py; `null` is any number.
function tableTensor(rules, settings, numHeads) {
  const perRow = settings.table_key === "after-state" ? 1 : rules.numActions;
  return { name: "values", dtype: "F32", shape: [null, numHeads * perRow] };
}

// Check that every sum of a layer of integers is exact in float32, as `check` in
// networks/integer_network.py does.
function checkSums({ kernel, bias, scale }, [numOutputs, numInputs]) {
  check(scale.every((factor) => factor > 0), "a scale of its network is not above 0");
  const numBiases = bias.length / numOutputs; // of an output
  for (let k = 0; k < numOutputs; k += 1) {
    let largest = 0;
    for (const weight of kernel.subarray(k * numInputs, (k + 1) * numInputs)) {
      largest += LARGEST * Math.abs(weight);
    }
    largest += Math.max(...bias.subarray(k * numBiases, (k + 1) * numBiases).map(Math.abs));
    check(largest < FIRST_INEXACT, "its network has sums that are not exact");
  }
}

// Check the settings of a network.
function checkNetwork(settings) {
  const isTable = settings.network === "table";
  check(isTable || settings.network === "mlp", "its network is of a kind that the page lacks");
  if (isTable) {
    check(TABLE_KEYS.includes(settings.table_key), "its table has rows that the page lacks");
    return;
  }
  const isComputed = Object.hasOwn(ACTIVATIONS, settings.activation);
  check(isComputed, "its network has an activation that the page does not compute");
  const sizes =
    isWhole(settings.hidden_layers, 0, 16) &&
    isWhole(settings.hidden_size, 1, 2 ** 14) &&
    isWhole(settings.filters, 0, 2 ** 10);
  check(sizes, "its network has no sizes that are known");
}

// A tensor as a list of numbers; a length of `null` is any number. Throws an Error with the
// reason if it is another tensor.
function readTensor(bytes, { head, begin }, { name, dtype, shape }, reason = NO_FIT) {
  const entry = head[name];
  check(entry?.dtype === dtype && entry.shape.length === shape.length, reason);
  const fits = shape.every((length, i) =>
    length === null ? isWhole(entry.shape[i], 1, 2 ** 20) : entry.shape[i] === length,
  );
  const content = tensorBytes(bytes, begin, entry);
  const { List } = DTYPES[dtype];
  const count = entry.shape.reduce((product, length) => product * length, 1);
  check(fits && content.length === List.BYTES_PER_ELEMENT * count, reason);
  const values = new List(content.slice().buffer);
  check(dtype !== "F32" || values.every(Number.isFinite), "it has a weight that is not finite");
  return values;
}

// The weights of a layer: { kernel, bias, scale }, the last of integers only.
function readLayer(bytes, file, layer) {
  /** @type {any} */
  const read = {};
  for (const [part, tensor] of Object.entries(layer)) {
    read[part] = readTensor(bytes, file, tensor);
  }
  if (read.scale) checkSums(read, layer.kernel.shape);
  return read;
}

// The corrections of a file as `readCorrections` returns them, or null without any.
function correctionsOf(bytes, file, rules) {
  const [keys, actions] = [
    { name: "corrections.keys", dtype: "U64", shape: [null] },
    { name: "corrections.actions", dtype: "U8", shape: [null] },
  ];
  if (![keys, actions].some(({ name }) => Object.hasOwn(file.head, name))) return null;
  const read = (tensor) => readTensor(bytes, file, tensor, NO_COLUMNS);
  return readCorrections(rules, read(keys), read(actions));
}

// The agent of a file (ArrayBuffer): { envId (the page's name), sha256 (of its contents),
// config (the settings), grade (what the file says), updates, seats (that it
// learned), kind: "network" or "table", heads, numHeads, gamma (discount per move), isInteger
// (whether it is a network of integers), layers (of a network: see `readLayer`), table (the
// values of a table), corrections (see `readCorrections`, or null) }.
// Rejects with an Error with a reason for people.
export async function readAgent(bytes) {
  const file = readHeader(bytes);
  const { text, record } = readDescription(file.head);
  await checkDigest(bytes, file, { text, record });
  const { config, grade } = record;
  const { env_id: envId, gamma } = config;
  check(Rules.knows(envId), "the page lacks its game");
  check(!config.own?.network, "the page can't compute a network of your own");
  checkNetwork(config);
  check(typeof gamma === "number" && gamma >= 0 && gamma <= 1, NOT_AGENT);
  check(Object.hasOwn(SEATS_OF, config.seat), NOT_AGENT);
  check(isWhole(record.num_updates, 0, Number.MAX_SAFE_INTEGER), NOT_AGENT);
  const rules = rulesOf(envId);
  check(isGrade(rules, grade), "its grade is not one that the page reads");
  const isTable = config.network === "table";
  check(!isTable || rules.isEnumerable, "the page has tables of tic-tac-toe only");
  const heads = headsOf(config);
  const numHeads = heads === "value" ? 1 : 2;
  const isInteger = Object.values(file.head).some(({ dtype }) => /^I\d+$/.test(dtype));
  check(!isInteger || !isTable, "a table has no products to round");
  const isRelu = !isInteger || config.activation === "relu";
  check(isRelu, `a network of integers needs relu, not ${config.activation}`);
  const layers = isTable ? null : networkLayers(rules, config, numHeads, isInteger);
  return {
    envId: rules.envId,
    sha256: record.sha256,
    config,
    grade,
    updates: record.num_updates,
    seats: SEATS_OF[config.seat],
    kind: isTable ? "table" : "network",
    heads,
    numHeads,
    gamma,
    isInteger,
    layers: layers && layers.map((layer) => readLayer(bytes, file, layer)),
    table: isTable ? readTensor(bytes, file, tableTensor(rules, config, numHeads)) : null,
    corrections: correctionsOf(bytes, file, rules),
  };
}
