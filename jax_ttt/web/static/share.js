// A game as a link and as a picture, and the clipboard.

import { smallBoard } from "./board.js";
import { Rules, SIDES, rulesOf } from "./rules.js";

const [X, O, TILE] = ["#0072b2", "#d55e00", "#eef1f4"];
const LINE = { fill: "none", "stroke-width": 11, "stroke-linecap": "round" };
// The looks of the parts of `smallBoard`, by their classes.
const LOOKS = {
  tile: { fill: TILE },
  "tile won": { fill: TILE, stroke: "#1f2630", "stroke-width": 6 },
  "stone x": { ...LINE, stroke: X },
  "stone o": { ...LINE, stroke: O },
  "disc x": { fill: X },
  "disc o": { fill: O },
  ring: { fill: "none", stroke: "#ffffff", "stroke-width": 7 },
};
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

// The position as text, with its moves in the last line if there are any: "Moves: 4453", by the
// numbers of the columns or squares.
export function textOf(rules, position, moves) {
  const board = rules.text(position);
  if (moves.length === 0) return board;
  const numbers = moves.map((action) => rules.numberOf(action));
  const isLong = rules.numberOf(rules.numActions - 1) > 9;
  return `${board}\nMoves: ${numbers.join(isLong ? " " : "")}`;
}

// The position as a picture of its own, without the page's style sheet.
export function asSvg(rules, position) {
  const { type, props } = smallBoard(rules, position);
  const size = { width: 100 * rules.columns, height: 100 * rules.rows };
  return svgText({ type, props: { xmlns: "http://www.w3.org/2000/svg", ...size, ...props } });
}

// A drawing as text, with the looks of its classes as attributes.
function svgText(drawing) {
  if (Array.isArray(drawing)) return drawing.map(svgText).join("");
  if (!drawing) return "";
  const { class: look, children, ...attributes } = drawing.props;
  const named = Object.entries({ ...attributes, ...LOOKS[look] });
  const text = named.map(([name, value]) => ` ${name}="${value}"`).join("");
  return `<${drawing.type}${text}>${svgText(children)}</${drawing.type}>`;
}

// Copy a text; where the browser gives this page no clipboard, by a selection. Resolves to
// whether it was copied.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}
