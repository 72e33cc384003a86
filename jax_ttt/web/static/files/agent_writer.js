// An agent that learned in the page as a file for Python and for agent_file.js.

import { VERSION, digestOf, joinBytes } from "./agent_file.js";

const WRITER = "the page"; // in place of the package and its version

// A number as Python's `json` writes it, which uses exponents of two digits below 0.0001.
function numberText(number) {
  if (!Number.isFinite(number)) throw new Error("a number of the agent is not finite");
  const size = Math.abs(number);
  if (size === 0) return "0";
  if (size >= 1e-4 && size < 1e16) return String(number);
  return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

// A value as Python's `json.dumps(value, sort_keys=True)` writes it.
function pythonJson(value) {
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `"${name}": ${pythonJson(value[name])}`).join(", ")}}`;
}

// The numbers of a tensor as little-endian float32.
function float32Bytes(values) {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setFloat32(4 * i, value, true));
  return bytes;
}

// The agent's file, an ArrayBuffer: the same format as files/tensor_file.py. Rejects with an
// Error if a weight is not finite.
export async function writeAgent({ config, seed, updates, grade, tensors }) {
  if (!tensors.every(({ values }) => values.every(Number.isFinite))) {
    throw new Error("a weight of the agent is not finite");
  }
  const encoder = new TextEncoder();
  const record = {
    kind: "agent",
    version: VERSION,
    config,
    seed,
    num_updates: updates,
    grade,
    writer: WRITER,
  };
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  const written = sorted.map(({ name, shape, values }) => {
    return { name, dtype: "F32", shape, content: float32Bytes(values) };
  });
  const head = {};
  let end = 0;
  for (const { name, dtype, shape, content } of written) {
    head[name] = { dtype, shape, data_offsets: [end, end + content.length] };
    end += content.length;
  }
  const text = pythonJson({ ...record, sha256: await digestOf(pythonJson(record), written) });
  const header = JSON.stringify({ __metadata__: { jax_ttt: text }, ...head });
  // Tensors begin at a multiple of 8 bytes.
  const headerBytes = encoder.encode(header.padEnd(8 * Math.ceil(header.length / 8)));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(headerBytes.length), true);
  return joinBytes([length, headerBytes, ...written.map(({ content }) => content)]).buffer;
}
