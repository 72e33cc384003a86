// The board of every game: a grid of buttons for mouse, touch and keyboard.
//
// A button stands for an action: a square, or a column where stones fall. Values lie over
// the buttons, whose names say them in words.

import { LETTERS } from "../engine/rules.js";
import { capital } from "../state/words.js";
import { isShortcut } from "./ui.js";
import { html, useRef, useState } from "../vendor/preact.js";

// The names of the layers in the squares.
export const LAYER_NAMES = { network: "net", table: "table", exact: "exact" };

const DOT = 12; // the radius of a dot of the next moves, and the size of its number

const DEFAULTS = {
  playable: false,
  owner: null,
  layers: [],
  line: [],
  hint: null,
  marks: new Map(),
  isSetup: false,
  ghost: null,
  shades: null,
  hasNumbers: false,
  dot: DOT,
};

// A stone in a box of 100 x 100 SVG units: X or O, or a disc with an X or an O on it.
export function stoneShape(rules, side) {
  if (rules.falls) {
    return html`
      <g>
        <circle class=${`disc ${side}`} cx="50" cy="50" r="46" />
        ${
          side === "o"
            ? html`<circle class="ring" cx="50" cy="50" r="28" />`
            : html`<path class="ring" d="M32 32 L68 68 M68 32 L32 68" />`
        }
      </g>
    `;
  }
  if (side === "x") return html`<path class="stone x" d="M25 25 L75 75 M75 25 L25 75" />`;
  return html`<circle class="stone o" cx="50" cy="50" r="28" />`;
}

// A picture of a position for panels and files; `last` is a cell or null, and `shades` a Map of
// action -> value. As a file, it has its looks from share.js.
export function smallBoard(rules, position, { last = null, shades = new Map() } = {}) {
  const values = new Map([...shades].map(([action, value]) => [rules.cell(position, action), value]));
  const cells = Array.from({ length: rules.numCells }, (_, cell) => {
    const stone = rules.stone(position, cell);
    const [x, y] = [100 * (cell % rules.columns), 100 * Math.floor(cell / rules.columns)];
    const round = rules.falls ? 46 : 14;
    const shade = shadeOf(values.get(cell));
    const look = ["tile"];
    if (shade.look) look.push(shade.look);
    if (cell === last) look.push("last");
    if (position.row.includes(cell)) look.push("won");
    return html`
      <g key=${cell} transform=${`translate(${x} ${y})`}>
        <rect
          class=${look.join(" ")}
          style=${shade.style}
          x="4"
          y="4"
          width="92"
          height="92"
          rx=${round}
        />
        ${stone && stoneShape(rules, stone)}
      </g>
    `;
  });
  const size = `0 0 ${100 * rules.columns} ${100 * rules.rows}`;
  return html`<svg class="small" viewBox=${size} aria-hidden="true">${cells}</svg>`;
}

// The board. It is made anew for another game (its key is the game's name). What is left out
// has its default.
//   rules, position   Rules and Position
//   onPlay(action)    called for a legal move (in a set-up for any action) while it is playable
//   playable          whether the person may play now
//   moved             whether the latest stone was set just now
//   owner             the person's side, or null where there is none (analysis)
//   layers            [{ layer: "network" | "table" | "exact", values }]: `values` is a Map by
//                     action of { text, tone: "good" | "even" | "bad" | "own", spoken, note }
//   line              actions from the position on that are shown as arrows
//   hint              the action that is marked, or null
//   marks             Map of cell -> { sign, text } of stones, such as mistakes
//   isSetup           whether a position is set up: every action may be chosen
//   hasNumbers        whether learned values are written as numbers, and not only as colours
//   ghost             a position that is shown in place of an empty one, or null: nobody plays it
//   shades            Map of action -> value (-1 to 1) that colours the board; by default the
//                     values of a layer
//   dot               the size of the dots of the next moves, for a small board
export function Board(props) {
  const { rules, position, moved = false } = props;
  const { rows, columns, falls } = rules;
  // The action that the tab key reaches.
  const [cursor, setCursor] = useState(falls ? Math.floor(columns / 2) : 0);
  // The cell whose stone appears with a movement. A position is often shown again before its
  // stone has come to rest.
  const shown = useRef({ key: null, fresh: null });
  const key = rules.key(position);
  if (shown.current.key !== key) shown.current = { key, fresh: moved ? position.last : null };
  const { fresh } = shown.current;
  const board = { ...DEFAULTS, ...props, cursor, setCursor, fresh };
  board.shades ??= shadesOf(board.layers);
  board.chips = chipsOf(board);
  const lines = Array.from({ length: falls ? 1 : rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => target(board, row * columns + column)),
  );
  const size = falls ? `${columns} columns of ${rows}` : `${rows} rows of ${columns}`;
  const style = { "--columns": columns, "--rows": rows };
  const decided = position.row.length > 0 ? "decided" : "";
  return html`
    <div class=${`board ${falls ? "falls" : "squares"} ${decided}`} style=${style}>
      <div class="grid" role="grid" aria-label=${`Board, ${size}`}>
        ${lines.map(
          (targets, row) => html`<div key=${row} class="row" role="row">${targets}</div>`,
        )}
        ${arrows(board)}
      </div>
      ${falls && html`<div class="edge columns" aria-hidden="true">${numbers(rules)}</div>`}
    </div>
  `;
}

// The values that colour the board: those of the first learned layer, or else the exact ones.
export function shadesOf(layers) {
  const shown = layers.find(({ layer }) => layer !== "exact") ?? layers[0];
  const shades = new Map();
  shown?.values.forEach(({ value }, action) => shades.set(action, value));
  return shades;
}

// The layers that are written: exact results, and numbers where somebody asks for them, or
// where one colour can't show all.
function chipsOf({ layers, hasNumbers }) {
  const learned = layers.filter(({ layer }) => layer !== "exact");
  if (hasNumbers || learned.length > 1) return layers;
  return layers.filter(({ layer }) => layer === "exact");
}

// The class and the style of a place with a value.
function shadeOf(value) {
  if (typeof value !== "number" || Number.isNaN(value)) return { look: "", style: null };
  const share = Math.round(100 * Math.min(Math.abs(value), 1));
  return { look: `shaded ${value < 0 ? "down" : "up"}`, style: { "--share": `${share}%` } };
}

// The next moves: numbered dots over the board, and arrows from each to the next one. The dots
// stand above the values of squares, the arrows pass below them. Pictures of 100 x 100 units a cell.
function arrows({ rules, position, line, dot }) {
  if (line.length === 0) return null;
  const stops = [];
  let at = position;
  for (const action of line) {
    const cell = rules.cell(at, action);
    const x = 100 * (cell % rules.columns) + 50;
    const y = 100 * Math.floor(cell / rules.columns) + (rules.falls ? 50 : dot + 2);
    stops.push({ x, y, side: rules.toMove(at) });
    at = rules.after(at, action);
  }
  const size = `0 0 ${100 * rules.columns} ${100 * rules.rows}`;
  return html`
    <svg class="arrows" viewBox=${size} preserveAspectRatio="none" aria-hidden="true">
      ${stops.slice(1).map((stop, i) => arrow(stops[i], stop, dot))}
    </svg>
    <svg class="arrows dots" viewBox=${size} preserveAspectRatio="none" aria-hidden="true">
      ${stops.map(
        ({ x, y, side }, i) => html`
          <g key=${i} class=${side} transform=${`translate(${x} ${y})`}>
            <circle r=${dot} />
            <text y=${dot / 3} font-size=${dot} text-anchor="middle">${i + 1}</text>
          </g>
        `,
      )}
    </svg>
  `;
}

function arrow(from, to, dot) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
  const end = length - dot - 3;
  return html`
    <g class=${to.side} transform=${`translate(${from.x} ${from.y}) rotate(${angle})`}>
      <path class="shaft" d=${`M${dot} 0 H${end - 8}`} />
      <path class="head" d=${`M${end} 0 l-14 -8 v16 z`} />
    </g>
  `;
}

// The button of an action, with its values.
function target(board, action) {
  const { rules, position, playable, isSetup, cursor, setCursor, onPlay } = board;
  const landing = rules.cell(position, action); // null if the move is illegal
  // What the layers say of it: { layer, text, tone, spoken, note }.
  const values = board.layers.flatMap(({ layer, values: byAction }) => {
    const value = byAction.get(action);
    return value ? [{ layer, ...value }] : [];
  });
  const isOwn = values.some(({ tone }) => tone === "own");
  const isHint = board.hint === action;
  const isPlayable = playable && (isSetup || landing !== null);
  const look = [rules.falls ? "column" : "square"];
  if (isPlayable) look.push("playable");
  if (isHint) look.push("hint");
  if (isOwn) look.push("own");
  const shade = shadeOf(rules.falls ? null : board.shades.get(action));
  look.push(shade.look);
  if (!rules.falls && action === position.last) look.push("last");
  if (!rules.falls && position.row.includes(action)) look.push("won");
  const spoken = values.map((value) => value.spoken);
  if (isHint) spoken.push("hint");
  const name = rules.falls ? columnName(board, action, spoken) : squareName(board, action, spoken);
  return html`
    <div key=${action} class="target" role="gridcell">
      <button
        type="button"
        class=${look.join(" ")}
        style=${shade.style}
        aria-label=${name}
        aria-disabled=${String(!isPlayable)}
        tabindex=${action === cursor ? 0 : -1}
        onClick=${() => isPlayable && onPlay(action)}
        onFocus=${() => setCursor(action)}
        onKeyDown=${(event) => onKey(event, rules, action)}
      >
        ${rules.falls ? holes(board, action, landing) : glyph(board, action)}
      </button>
      ${chips(values.filter(({ layer }) => board.chips.some((one) => one.layer === layer)))}
    </div>
  `;
}

// The name of a square; `spoken` is what a screen reader says of the move, as texts.
function squareName({ rules, position, marks }, action, spoken) {
  const stone = rules.stone(position, action);
  const parts = [capital(rules.actionName(action)), stone ? LETTERS[stone] : "empty"];
  if (marks.has(action)) parts.push(marks.get(action).text);
  parts.push(...spoken);
  if (position.row.includes(action)) parts.push("in the winning line");
  return parts.join(", ");
}

function columnName({ rules, position, marks, owner }, action, spoken) {
  const cells = columnCells(rules, action);
  const stones = cells
    .map((cell) => rules.stone(position, cell))
    .filter((stone) => stone !== null)
    .map((stone) => {
      if (owner === null) return LETTERS[stone];
      return stone === owner ? "yours" : "the agent's";
    });
  const free = rules.rows - stones.length;
  const content = stones.length
    ? `from below ${stones.join(", ")}; ${free ? `${free} free` : "full"}`
    : "empty";
  const parts = [capital(rules.actionName(action)), content];
  cells.forEach((cell, height) => {
    if (marks.has(cell)) parts.push(`stone ${height + 1}, ${marks.get(cell).text}`);
  });
  parts.push(...spoken);
  if (cells.some((cell) => position.row.includes(cell))) parts.push("in the winning row");
  return parts.join(", ");
}

// The content of a square.
function glyph(board, cell) {
  const { rules, position, marks, ghost } = board;
  const side = rules.stone(position, cell);
  if (!side && ghost && rules.stone(ghost, cell)) return ghostStone(rules, ghost, cell);
  if (!side) return html`<span class="number" aria-hidden="true">${rules.numberOf(cell)}</span>`;
  return html`${stone(board, cell, side)}${sign(marks.get(cell))}`;
}

// The content of a column, from the top; `landing` is the cell of the next stone or null.
function holes(board, action, landing) {
  const { rules, position, playable, isSetup, marks, ghost } = board;
  const cells = columnCells(rules, action).reverse();
  const valued = ghost ? rules.cell(ghost, action) : landing;
  return html`
    <span class="holes">
      ${cells.map((cell, row) => {
        const side = rules.stone(position, cell);
        const isLanding = playable && !isSetup && cell === landing;
        const shade = shadeOf(cell === valued ? board.shades.get(action) : null);
        const look = `hole ${isLanding ? "landing" : ""} ${shade.look}`;
        return html`
          <span key=${cell} class=${look} style=${{ "--fall": row + 1, ...shade.style }}>
            ${side && stone(board, cell, side)}
            ${!side && ghost && ghostStone(rules, ghost, cell)}
            ${isLanding && html`<span class="preview">${stone(board, cell, rules.toMove(position))}</span>`}
            ${sign(marks.get(cell))}
          </span>
        `;
      })}
    </span>
  `;
}

function stone({ rules, position, fresh }, cell, side) {
  const look = ["glyph"];
  if (cell === fresh) look.push("fresh");
  if (position.row.includes(cell)) look.push("won");
  const isLast = rules.falls && cell === position.last;
  return html`
    <svg key=${side} class=${look.join(" ")} viewBox="0 0 100 100" aria-hidden="true">
      ${stoneShape(rules, side)}
      ${isLast && html`<circle class="last-dot" cx="50" cy="50" r="11" />`}
    </svg>
  `;
}

// A stone of a position that nobody plays.
function ghostStone(rules, ghost, cell) {
  const side = rules.stone(ghost, cell);
  if (!side) return null;
  const look = ["glyph", "ghost"];
  if (cell === ghost.last) look.push("fresh");
  if (ghost.row.includes(cell)) look.push("won");
  return html`
    <svg key=${`ghost ${side}`} class=${look.join(" ")} viewBox="0 0 100 100" aria-hidden="true">
      ${stoneShape(rules, side)}
    </svg>
  `;
}

// Move the focus by the arrow keys, Home and End.
function onKey(event, { rows, columns, falls }, action) {
  const [row, column] = [Math.floor(action / columns), action % columns];
  const to = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [row, 0],
    End: [row, columns - 1],
  }[event.key];
  if (!to || isShortcut(event)) return;
  event.preventDefault();
  const [toRow, toColumn] = to;
  const lastRow = falls ? 0 : rows - 1;
  if (toRow < 0 || toRow > lastRow || toColumn < 0 || toColumn >= columns) return;
  const buttons = event.currentTarget.closest("[role=grid]").querySelectorAll("button");
  buttons[toRow * columns + toColumn].focus();
}

// The cells of a column from below.
function columnCells(rules, column) {
  return Array.from(
    { length: rules.rows },
    (_, height) => (rules.rows - 1 - height) * rules.columns + column,
  );
}

function numbers(rules) {
  return Array.from(
    { length: rules.columns },
    (_, column) => html`<span key=${column}>${rules.numberOf(column)}</span>`,
  );
}

function sign(mark) {
  return mark && html`<span class="mark" aria-hidden="true">${mark.sign}</span>`;
}

function chips(values) {
  if (values.length === 0) return null;
  return html`
    <div class="chips" aria-hidden="true">
      ${values.map(
        ({ layer, text, tone, note }) => html`
          <span key=${layer} class=${`chip ${layer} ${tone}`}>
            <span class="layer">${LAYER_NAMES[layer]}</span>
            <span class="value">${text}</span>
            ${note && html`<span class="remark">${note}</span>`}
          </span>
        `,
      )}
    </div>
  `;
}
