// A game as text and as a picture, and the clipboard.

import { say } from "../state/messages.js";
import { smallBoard } from "./board.js";

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

// Copy a text, which is called `name`, and say so.
export async function copy(name, text) {
  const isCopied = await isOnClipboard(text);
  say(isCopied ? `${name} copied.` : "This browser does not let the page copy.");
}

// Copy a text; where the browser gives this page no clipboard, by a selection. Resolves to
// whether it was copied.
async function isOnClipboard(text) {
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
