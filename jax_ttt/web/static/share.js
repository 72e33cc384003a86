// A game as a link and as a picture, and the clipboard.

import { Rules } from "./rules.js";

const COLOURS = { x: "#0072b2", o: "#d55e00", tile: "#eef1f4", ring: "#ffffff", row: "#1f2630" };
const LONGEST_START = 200; // characters of a set-up position in a link

// The part of a link after the page's address. `start` is the key of the first position
// if it was set up, else null; `update` is a number of updates or null for the latest; `tab`
// is the name of the open tab or null.
export function toHash({ envId, moves, start = null, side, level, ...more }) {
  const { agent = null, update = null, tab = null } = more;
  const rules = new Rules(envId);
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

// The game of a link, or null if the page does not know it. The caller checks the moves,
// the level and the agent.
export function fromHash(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const envId = fields.get("game");
  const moves = fields.get("moves") ?? "";
  if (envId === null || !Rules.knows(envId) || !/^(\d{1,3}(\.\d{1,3})*)?$/.test(moves)) return null;
  const start = fields.get("start");
  const update = fields.get("update") ?? "";
  const numbers = moves === "" ? [] : moves.split(".").map(Number);
  const rules = new Rules(envId);
  return {
    envId,
    moves: numbers.map((number) => rules.actionOfNumber(number)),
    start: start !== null && start.length <= LONGEST_START ? start : null,
    side: fields.get("side") === "o" ? "o" : "x",
    level: fields.get("level"),
    agent: fields.get("agent"),
    update: /^\d{1,9}$/.test(update) ? Number(update) : null,
  };
}

// The position as a picture of its own, without the page's style sheet.
export function asSvg(rules, position) {
  const cells = Array.from({ length: rules.numCells }, (_, cell) => {
    const isWon = position.row.includes(cell);
    const shapes = rules.falls ? discShapes : squareShapes;
    const [x, y] = [100 * (cell % rules.columns), 100 * Math.floor(cell / rules.columns)];
    const content = shapes(rules.stone(position, cell), isWon);
    return `<g transform="translate(${x} ${y})">${content}</g>`;
  });
  const [width, height] = [100 * rules.columns, 100 * rules.rows];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}">${cells.join("")}</svg>`
  );
}

function squareShapes(stone, isWon) {
  const edge = isWon ? ` stroke="${COLOURS.row}" stroke-width="5"` : "";
  const tile = `<rect x="4" y="4" width="92" height="92" rx="10" fill="${COLOURS.tile}"${edge}/>`;
  const look = `fill="none" stroke="${COLOURS[stone]}" stroke-width="11" stroke-linecap="round"`;
  if (stone === "x") return `${tile}<path d="M25 25 L75 75 M75 25 L25 75" ${look}/>`;
  if (stone === "o") return `${tile}<circle cx="50" cy="50" r="28" ${look}/>`;
  return tile;
}

function discShapes(stone, isWon) {
  const circle = (r, look) => `<circle cx="50" cy="50" r="${r}" ${look}/>`;
  if (stone === null) return circle(46, `fill="${COLOURS.tile}"`);
  const disc = circle(46, `fill="${COLOURS[stone]}"`);
  const look = `fill="none" stroke="${COLOURS.ring}" stroke-width="7"`;
  const letter =
    stone === "o" ? circle(28, look) : `<path d="M32 32 L68 68 M68 32 L32 68" ${look}/>`;
  const won = circle(44, `fill="none" stroke="${COLOURS.row}" stroke-width="8"`);
  return [disc, letter, isWon && won].filter(Boolean).join("");
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
