// A position to pass on: in the URL, as text, and as SVG.

import { byId, svg } from "page/dom";
import { lineShape } from "page/board";
import { say } from "page/toast";

const COLOURS = { x: "#0072b2", o: "#d55e00", tile: "#eef1f4", line: "#1f2630" };

export function toHash({ moves, side, level, agent, update }) {
  const found = new URLSearchParams({ moves: moves.join(""), side, level });
  if (agent !== null) found.set("agent", agent);
  if (update !== null) found.set("update", update);
  return `#${found}`;
}

// What a link says, or null if it says nothing of a game. Every part is checked later.
export function fromHash(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const text = found.get("moves") ?? "";
  if (!found.has("moves") || !/^\d*$/.test(text)) return null;
  const update = found.get("update") ?? "";
  return {
    moves: [...text].map(Number),
    side: found.get("side") === "o" ? "o" : "x",
    level: found.get("level"),
    agent: found.get("agent"),
    update: /^\d{1,9}$/.test(update) ? Number(update) : null,
  };
}

export function asText(tree, position) {
  const rows = [];
  for (let row = 0; row < tree.rows; row += 1) {
    const cells = [];
    for (let column = 0; column < tree.columns; column += 1) {
      const stone = tree.stone(position, row * tree.columns + column);
      cells.push(stone ? tree.letters[stone] : "-");
    }
    rows.push(cells.join(" "));
  }
  return rows.join("\n");
}

function stone(side, x, y) {
  const look = { fill: "none", stroke: COLOURS[side], "stroke-width": 11 };
  if (side === "o") return svg("circle", { cx: x + 50, cy: y + 50, r: 28, ...look });
  const d = `M${x + 24} ${y + 24} l52 52 M${x + 76} ${y + 24} l-52 52`;
  return svg("path", { d, "stroke-linecap": "round", ...look });
}

// The position as a picture of its own, without the page's style sheet.
export function asSvg(tree, position) {
  const [width, height] = [100 * tree.columns, 100 * tree.rows];
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  for (let cell = 0; cell < tree.numCells; cell += 1) {
    const x = (cell % tree.columns) * 100;
    const y = Math.floor(cell / tree.columns) * 100;
    const place = { x: x + 4, y: y + 4, width: 92, height: 92, rx: 10 };
    picture.append(svg("rect", { ...place, fill: COLOURS.tile }));
    const side = tree.stone(position, cell);
    if (side) picture.append(stone(side, x, y));
  }
  for (const cells of tree.wonLines(position)) {
    const line = lineShape(tree, cells);
    line.removeAttribute("class");
    line.setAttribute("stroke", COLOURS.line);
    line.setAttribute("stroke-width", "6");
    line.setAttribute("stroke-linecap", "round");
    picture.append(line);
  }
  return new XMLSerializer().serializeToString(picture);
}

// The buttons that copy the game's link and its position.
export function startSharing(tree, game) {
  const copied = async (what, text) => {
    const done = await copy(text);
    say(done ? `${what} copied.` : "This browser does not let the page copy.");
  };
  const on = (id, listener) => byId(id).addEventListener("click", listener);
  on("copy-link", () => copied("Link", location.href));
  on("copy-text", () => copied("Text", asText(tree, game.position)));
  on("copy-svg", () => copied("SVG", asSvg(tree, game.position)));
}

// Copy a text; where the browser has no clipboard for this page, by a selection.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
