// An agent that learned in the page, as a player: { config, seed, updates, grade (see
// `gradeRecord`), tensors: [{ name, shape, values (Float32Array) }] }.

import { SEATS } from "./rules.js";

// A grade of `gradeOf` in search.js as a Grade of config/grade.py: unknown fields are left out.
export function gradeRecord(rules, grade) {
  const seats = Object.values(SEATS).filter((seat) => grade[seat]);
  const record = { env_id: rules.envId, seats };
  for (const seat of seats) {
    const known = Object.entries(grade[seat]).filter(([, value]) => value !== null);
    const { unbeatable } = grade[seat];
    const proof = { complete: true, beaten: !unbeatable, evidence: "construction" };
    record[seat] = { ...Object.fromEntries(known), ...proof };
  }
  record.unbeatable = seats.every((seat) => grade[seat].unbeatable);
  return record;
}

// The agent as `readAgent` of agent_file.js returns it, for `makePlayer`, without its file.
export function asRead({ config, updates, grade, tensors }) {
  const isTable = config.network === "table";
  const values = new Map(tensors.map((tensor) => [tensor.name, tensor.values]));
  const layer = (number) => ({
    kernel: values.get(`layers.layers.${2 * number}.kernel`),
    bias: values.get(`layers.layers.${2 * number}.bias`),
  });
  return {
    envId: config.env_id,
    sha256: null,
    config,
    grade,
    updates,
    seats: ["first", "second"],
    kind: isTable ? "table" : "network",
    heads: "value-and-reply",
    numHeads: 2,
    gamma: config.gamma,
    isInteger: false,
    layers: isTable ? null : Array.from({ length: config.hidden_layers + 1 }, (_, i) => layer(i)),
    table: isTable ? values.get("values") : null,
    corrections: null,
  };
}
