// An agent's file: a safetensors file with a description as JSON, as files/agent_file.py
// writes it. People add files from anywhere, so everything that the page uses is checked.
// That a file is whole proves nothing about its grade: see `knownOf` in grades.js.

import { ACTIVATIONS, patchOf } from "./players.js";
import { Rules, SEATS, SIDES } from "./rules.js";
import { sha256 } from "./sha256.js";

const FORMAT_VERSION = 5; // of files/json_records.py
const TABLE_KEYS = ["position", "after-state", "hash"];
// The seats that an agent learns, by the setting `seat`: as in config/settings.py.
const SEATS_OF = { both: ["first", "second"], first: ["first"], second: ["second"] };
const ROUNDING = 1e-6;
const RATES = ["win_rate", "draw_rate", "loss_rate"];
const RESULTS = ["won", "drawn", "lost"];
const NOT_AGENT = "this is not an agent's file";

function check(holds, reason) {
  if (!holds) throw new Error(reason);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWhole(value, low, high = Infinity) {
  return Number.isInteger(value) && value >= low && value <= high;
}

// Whether a value is from 0 to 1, up to a rounding of its sum.
function isShare(value) {
  return typeof value === "number" && value > -ROUNDING && value < 1 + ROUNDING;
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
  const { format_version: version } = record;
  check(
    version === FORMAT_VERSION,
    `the agent's file has format ${version}, and this page reads ${FORMAT_VERSION}`,
  );
  return { text, record };
}

// The bytes of a tensor.
function tensorBytes(bytes, begin, entry) {
  const isDescribed =
    isObject(entry) && Array.isArray(entry.shape) && Array.isArray(entry.data_offsets);
  check(isDescribed && entry.dtype === "F32", NOT_AGENT);
  const [from, to] = entry.data_offsets;
  const isInside = isWhole(from, 0) && isWhole(to, from, bytes.byteLength - begin);
  check(isInside, "the agent's file is not complete");
  return new Uint8Array(bytes, begin + from, to - from);
}

// Check the SHA-256 of the description, without this SHA-256 itself, and of all tensors, as
// files/tensor_file.py computes it.
function checkDigest(bytes, { head, begin }, { text, record }) {
  const { sha256: expected } = record;
  const parts = [new TextEncoder().encode(text.replace(`"sha256": "${expected}", `, ""))];
  const names = Object.keys(head).filter((name) => name !== "__metadata__");
  for (const name of names.sort()) {
    const content = tensorBytes(bytes, begin, head[name]);
    const shape = head[name].shape.join(", ");
    const line = `\n[${JSON.stringify(name)}, "<f4", [${shape}]]\n`;
    parts.push(new TextEncoder().encode(line), content);
  }
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  check(sha256(all) === expected, "its contents were changed after they were saved");
}

function isBoolean(value) {
  return typeof value === "boolean";
}

// Whether a value has a number of lines for each result, as Lines in grading/grade.py.
function isLines(lines) {
  return isObject(lines) && RESULTS.every((result) => isWhole(lines[result], 0));
}

// Whether a side loses a game of these actions.
function isLosingLine(rules, side, actions) {
  const positions = Array.isArray(actions) ? rules.positions(actions) : null;
  return positions !== null && rules.result(positions.at(-1), side) === "lost";
}

// Whether a seat's grade has what the page reads of it, as SeatGrade in grading/grade.py.
function isSeatGrade(rules, side, grade) {
  return (
    isObject(grade) &&
    RATES.every((rate) => isShare(grade[rate])) &&
    isAbsentOr(Array.isArray, grade.win_rate_interval) &&
    isAbsentOr(isBoolean, grade.unbeatable) &&
    isAbsentOr(isLines, grade.lines) &&
    isAbsentOr(isShare, grade.optimal_move_rate) &&
    isAbsentOr((count) => isWhole(count, 0), grade.num_positions) &&
    isAbsentOr((count) => isWhole(count, 0), grade.losing_ends) &&
    isAbsentOr((actions) => isLosingLine(rules, side, actions), grade.losing_line)
  );
}

// Whether there is a seat's grade for each seat that has one.
function areSeatGrades(rules, grades) {
  return SIDES.every((side) =>
    isAbsentOr((grade) => isSeatGrade(rules, side, grade), grades[SEATS[side]]),
  );
}

// Whether a score has what the page reads of it, as Grade in grading/grade.py.
function isGrade(rules, score) {
  return (
    isObject(score) &&
    Array.isArray(score.seats) &&
    score.seats.every((seat) => SEATS_OF.both.includes(seat)) &&
    isAbsentOr(isBoolean, score.unbeatable) &&
    areSeatGrades(rules, score) &&
    isAbsentOr((match) => isObject(match) && areSeatGrades(rules, match), score.sampled)
  );
}

// How many values an action has: one; two, to the mover and to the opponent; or one from
// each of two tables. As HEAD_KIND_OF in config/settings.py.
function headsOf(config) {
  if (config.backup === "two-ply") return "value-and-reply";
  return config.double && config.network === "table" ? "two-tables" : "value";
}

// The shapes of a network's tensors by their names, as in networks/mlp.py.
function networkShapes(rules, config, numHeads) {
  const shapes = {};
  let inputs = rules.numCells * (config.two_planes ? 2 : 1);
  if (config.filters) {
    const { height, width, down, right } = patchOf(rules);
    const numPatches = down * right;
    const numEntries = height * width * (config.two_planes ? 2 : 1);
    shapes["convolution.filters.kernel"] = [config.filters, numEntries];
    shapes["convolution.bias"] = [config.filters, numPatches];
    inputs = config.filters * numPatches;
  }
  const hidden = new Array(config.hidden_layers).fill(config.hidden_size);
  [...hidden, numHeads * rules.numActions].forEach((outputs, layer) => {
    shapes[`layers.layers.${2 * layer}.kernel`] = [outputs, inputs];
    shapes[`layers.layers.${2 * layer}.bias`] = [outputs];
    inputs = outputs;
  });
  return shapes;
}

// The shape of a table's values, as in networks/table.py; `null` is any number.
function tableShapes(rules, config, numHeads) {
  const numRows = config.table_key === "hash" ? 3 ** rules.numCells : null;
  const perRow = config.table_key === "after-state" ? 1 : rules.numActions;
  return { values: [numRows, numHeads * perRow] };
}

function checkConfig(config) {
  const isTable = config.network === "table";
  check(isTable || config.network === "mlp", "its network is of a kind that the page lacks");
  if (isTable) {
    check(TABLE_KEYS.includes(config.table_key), "its table has rows that the page lacks");
    return;
  }
  const isComputed = Object.hasOwn(ACTIVATIONS, config.activation);
  check(isComputed, "its network has an activation that the page does not compute");
  const sizes =
    isWhole(config.hidden_layers, 0, 16) &&
    isWhole(config.hidden_size, 1, 2 ** 14) &&
    isWhole(config.filters, 0, 2 ** 10);
  check(sizes, "its network has no sizes that are known");
}

// One tensor as float32; `shape` is the one that the settings need.
function readTensor(bytes, begin, entry, shape) {
  const reason = "its weights do not fit its settings";
  check(entry?.shape.length === shape.length, reason);
  const fits = shape.every((length, i) =>
    length === null ? isWhole(entry.shape[i], 1, 2 ** 20) : entry.shape[i] === length,
  );
  const content = tensorBytes(bytes, begin, entry);
  const size = 4 * entry.shape.reduce((product, length) => product * length, 1);
  check(fits && content.length === size, reason);
  const values = new Float32Array(content.slice().buffer);
  check(values.every(Number.isFinite), "it has a weight that is not finite");
  return values;
}

// The agent of a file (ArrayBuffer): { envId (the page's name), sha256 (of its contents),
// config, grade (what the file says), updates, seats (that it learned), kind: "network" or
// "table", heads, numHeads, gamma (discount per move), tensors (float32 by name) }.
// Throws an Error with a reason for people.
export function readAgent(bytes) {
  const { head, begin } = readHeader(bytes);
  const { text, record } = readDescription(head);
  checkDigest(bytes, { head, begin }, { text, record });
  const { config, score } = record;
  check(config.env_id === record.env_id && Rules.knows(record.env_id), "the page lacks its game");
  checkConfig(config);
  const { gamma } = config;
  check(typeof gamma === "number" && gamma >= 0 && gamma <= 1, NOT_AGENT);
  check(Object.hasOwn(SEATS_OF, config.seat), NOT_AGENT);
  check(isWhole(record.num_updates, 0, Number.MAX_SAFE_INTEGER), NOT_AGENT);
  const rules = new Rules(record.env_id);
  check(isGrade(rules, score), "its score is not one that the page reads");
  const isTable = config.network === "table";
  check(!isTable || rules.isEnumerable, "the page has tables of tic-tac-toe only");
  const heads = headsOf(config);
  const numHeads = heads === "value" ? 1 : 2;
  const shapes = (isTable ? tableShapes : networkShapes)(rules, config, numHeads);
  const tensors = {};
  for (const [name, shape] of Object.entries(shapes)) {
    tensors[name] = readTensor(bytes, begin, head[name], shape);
  }
  return {
    envId: rules.envId,
    sha256: record.sha256,
    config,
    grade: score,
    updates: record.num_updates,
    seats: SEATS_OF[config.seat],
    kind: isTable ? "table" : "network",
    heads,
    numHeads,
    gamma,
    tensors,
  };
}
