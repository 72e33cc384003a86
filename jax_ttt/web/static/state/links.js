// A game as a link.

import { Rules, SIDES, rulesOf } from "../engine/rules.js";

const LONGEST_START = 200; // characters of a set-up position in a link

// The part of a link after the page's address. `start` is the key of the first position
// if it was set up, else null; `update` is a number of updates or null for the latest; `tab`
// is the name of the open tab or null.
export function toHash({ envId, moves, start = null, side, level, ...more }) {
  const { agent = null, update = null, tab = null } = more;
  const rules = rulesOf(envId);
  const numbers = moves.map((action) => rules.numberOf(action)).join(".");
  const fields = new URLSearchParams({ game: envId, moves: numbers, side, level });
  if (start !== null) fields.set("start", start);
  if (agent !== null) fields.set("agent", agent);
  if (update !== null) fields.set("update", update);
  if (tab !== null) fields.set("tab", tab);
  return `#${fields}`;
}

// A link's tab, or null.
export function tabOf(hash) {
  return new URLSearchParams(hash.replace(/^#/, "")).get("tab");
}

// Whether an address has a tab and nothing else.
export function isTabAlone(hash) {
  const names = [...new URLSearchParams(hash.replace(/^#/, "")).keys()];
  return names.length === 1 && names[0] === "tab";
}

// The game of a link, or null if the page does not know it. What it does not say is null. The
// caller checks the moves, the level and the agent.
export function fromHash(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const envId = fields.get("game");
  const moves = fields.get("moves") ?? "";
  if (envId === null || !Rules.knows(envId) || !/^(\d{1,3}(\.\d{1,3})*)?$/.test(moves)) return null;
  const start = fields.get("start");
  const update = fields.get("update") ?? "";
  const numbers = moves === "" ? [] : moves.split(".").map(Number);
  const rules = rulesOf(envId);
  return {
    envId,
    moves: numbers.map((number) => rules.actionOfNumber(number)),
    start: start !== null && start.length <= LONGEST_START ? start : null,
    side: SIDES.find((side) => side === fields.get("side")) ?? null,
    level: fields.get("level"),
    agent: fields.get("agent"),
    update: /^\d{1,9}$/.test(update) ? Number(update) : null,
  };
}
