// Curves of learning by side: wins, draws, losses and best moves, and the proof's moment.

import { html, number, percent, svg } from "page/dom";
import { ofSide } from "page/grade";
import { SIDES } from "page/tree";

const WIDTH = 300;
const HEIGHT = 170;
const LEFT = 34;
const BOTTOM = 24;
const TOP = 12;
const RIGHT = 8;
const PARTS = ["wins", "draws", "losses"];
const RATES = { wins: "win_rate", draws: "draw_rate", losses: "loss_rate" };
const NAMES = {
  wins: "wins",
  draws: "draws",
  losses: "losses",
  optimal: "best moves",
  proof: "proven from here on",
};

// The share of wins, draws or losses of a row on a side.
function shareOf(row, side, part) {
  return ofSide(row.grade, side)[RATES[part]];
}

// The share of best moves, or undefined where it is not known.
function bestOf(row, side) {
  return ofSide(row.grade, side).optimal_move_rate;
}

// The first row of the last unbroken stretch of proven rows, or null.
export function provenFrom(rows) {
  let from = null;
  for (const row of rows) {
    if (!row.grade.unbeatable) from = null;
    else if (from === null) from = row.update;
  }
  return from;
}

function scales(rows) {
  const end = Math.max(rows.at(-1).update, 1);
  return {
    end,
    x: (update) => LEFT + (update / end) * (WIDTH - LEFT - RIGHT),
    y: (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM),
  };
}

// The areas of wins, draws and losses, one above the other from the bottom.
function areas(rows, side, { x, y }) {
  let below = rows.map(() => 0);
  return PARTS.map((part) => {
    const above = rows.map((row, i) => below[i] + shareOf(row, side, part));
    const over = rows.map((row, i) => `${x(row.update)},${y(above[i])}`);
    const under = rows.map((row, i) => `${x(row.update)},${y(below[i])}`).reverse();
    below = above;
    return svg("polygon", { class: `area ${part}`, points: [...over, ...under].join(" ") });
  });
}

function bestLine(rows, side, { x, y }) {
  const known = rows.filter((row) => typeof bestOf(row, side) === "number");
  const points = known.map((row) => `${x(row.update)},${y(bestOf(row, side))}`).join(" ");
  return [
    svg("polyline", { class: "best-back", points }),
    svg("polyline", { class: "best", points }),
  ];
}

function axes({ x, y, end }, known = true) {
  const text = (at, label, anchor) =>
    svg("text", { ...at, "text-anchor": anchor, class: "tick", text: label });
  const marks = [0, 0.5, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) }),
    text({ x: LEFT - 5, y: y(share) + 4 }, `${100 * share}`, "end"),
  ]);
  if (!known) return marks;
  return [
    ...marks,
    text({ x: x(0), y: HEIGHT - 8 }, "0", "middle"),
    text({ x: x(end), y: HEIGHT - 8 }, number(end), "end"),
    text({ x: (LEFT + WIDTH) / 2, y: HEIGHT - 8 }, "updates", "middle"),
  ];
}

function upright(update, { x, y }, name) {
  return svg("line", { class: name, x1: x(update), x2: x(update), y1: y(1) - 6, y2: y(0) });
}

function inWords(letter, rows, side, proven) {
  const last = rows.at(-1);
  const parts = PARTS.map((part) => `${NAMES[part]} ${percent(shareOf(last, side, part))}`);
  const best = bestOf(last, side);
  if (typeof best === "number") parts.push(`best moves ${percent(best)}`);
  const proof = proven === null ? "Not proven." : `Proven from update ${number(proven)} on.`;
  const at = `at update ${number(last.update)}`;
  return `As ${letter} against random play ${at}: ${parts.join(", ")}. ${proof}`;
}

function chart(letter, rows, side, update) {
  const scale = scales(rows);
  const proven = provenFrom(rows);
  const said = inWords(letter, rows, side, proven);
  return html(
    "figure",
    { class: "chart" },
    html("figcaption", { text: `As ${letter}` }),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said },
      ...areas(rows, side, scale),
      ...axes(scale),
      ...bestLine(rows, side, scale),
      proven === null ? null : upright(proven, scale, "proven-line"),
      update === null ? null : upright(Math.min(update, scale.end), scale, "now-line"),
    ),
    html("p", { class: "figures", text: shortly(rows, side, update) }),
  );
}

// As large as a chart, so that nothing moves once there is one.
function emptyChart(letter, why) {
  const scale = scales([{ update: 0 }]);
  const [x, y] = [(LEFT + WIDTH) / 2, scale.y(0.5) - 8];
  const text = svg("text", { x, y, "text-anchor": "middle", class: "tick", text: why });
  const look = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" };
  return html(
    "figure",
    { class: "chart" },
    html("figcaption", { text: `As ${letter}` }),
    svg("svg", { ...look, "aria-label": `As ${letter}: ${why}` }, ...axes(scale, false), text),
    html("p", { class: "figures" }),
  );
}

function shortly(rows, side, update) {
  const row = (update !== null && rows.findLast((one) => one.update <= update)) || rows.at(-1);
  const parts = PARTS.map((part) => `${percent(shareOf(row, side, part))} ${NAMES[part]}`);
  return parts.join(" · ");
}

function legend() {
  const items = Object.entries(NAMES).map(([name, text]) =>
    html("li", {}, html("span", { class: `key ${name}` }), text),
  );
  return html("ul", { class: "legend" }, ...items);
}

// Draw the curves of rows of a history; `update` is marked, null for none. `why` stands
// where there are no curves.
export function showCurves(element, tree, rows, update, why = "no history") {
  const charts = SIDES.map((side) => {
    const letter = tree.letters[side];
    return rows.length > 1 ? chart(letter, rows, side, update) : emptyChart(letter, why);
  });
  element.replaceChildren(...charts, legend());
}
