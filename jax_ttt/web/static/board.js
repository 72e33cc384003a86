// The board of every game: a grid of buttons for mouse, touch and keyboard.
//
// A button stands for an action: a square, or a column where stones fall. Values lie over
// the buttons, whose names say them in words.

import { html, render } from "./vendor/htm-preact.js";
import { LETTERS } from "./rules.js";
import { capital, isShortcut } from "./ui.js";

const LAYER_NAMES = { network: "net", table: "table", exact: "exact" };

const EMPTY = {
  rules: null,
  position: null,
  playable: false,
  moved: false,
  owner: null,
  layers: [],
  hint: null,
  marks: new Map(),
  isSetup: false,
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

// A picture of a position for lists and curves; `last` is a cell or null.
export function smallBoard(rules, position, last = null) {
  const cells = Array.from({ length: rules.numCells }, (_, cell) => {
    const stone = rules.stone(position, cell);
    const [x, y] = [100 * (cell % rules.columns), 100 * Math.floor(cell / rules.columns)];
    const look = cell === last ? "tile last" : "tile";
    return html`
      <g key=${cell} transform=${`translate(${x} ${y})`}>
        <rect class=${look} x="4" y="4" width="92" height="92" rx=${rules.falls ? 46 : 14} />
        ${stone && stoneShape(rules, stone)}
      </g>
    `;
  });
  const size = `0 0 ${100 * rules.columns} ${100 * rules.rows}`;
  return html`<svg class="small" viewBox=${size} aria-hidden="true">${cells}</svg>`;
}

// The board in an element of the page. `onPlay(action)` is called for a legal move (in a
// set-up for any action) while the board is playable.
export class Board {
  constructor(element, { onPlay }) {
    Object.assign(this, { element, onPlay });
    this.state = EMPTY;
    this.cursor = 0; // the action that the tab key reaches
    this.fresh = null; // the cell whose stone appears with a movement
  }

  // Show a position. What is left out has its default.
  //   rules, position   Rules and Position
  //   playable          whether the person may play now
  //   moved             whether the latest stone was set just now
  //   owner             the person's side, or null where there is none (analysis)
  //   layers            [{ layer: "network" | "table" | "exact", values }]: `values` is a
  //                     Map by action of { text, tone: "good" | "even" | "bad" | "own", spoken }
  //   hint              the action that is marked, or null
  //   marks             Map of cell -> { sign, text } of stones, such as mistakes
  //   isSetup           whether a position is set up: every action may be chosen
  set(state) {
    const before = this.state;
    this.state = { ...EMPTY, ...state };
    const { rules, position, moved } = this.state;
    const isNewGame = before.rules !== rules;
    if (isNewGame) this.cursor = rules.falls ? Math.floor(rules.columns / 2) : 0;
    // A position is often shown again before its stone has come to rest.
    if (isNewGame || rules.key(before.position) !== rules.key(position)) {
      this.fresh = moved ? position.last : null;
    }
    this.render();
  }

  // Move the focus to the board.
  focus() {
    this.buttons()[this.cursor]?.focus();
  }

  // Bring the board into view, which lies above the panels on a phone.
  reveal() {
    this.element.scrollIntoView({ block: "nearest" });
  }

  buttons() {
    return this.element.querySelectorAll("button");
  }

  render() {
    const { rules } = this.state;
    const { rows, columns, falls } = rules;
    const lines = Array.from({ length: falls ? 1 : rows }, (_, row) =>
      Array.from({ length: columns }, (_, column) => this.target(row * columns + column)),
    );
    const size = falls ? `${columns} columns of ${rows}` : `${rows} rows of ${columns}`;
    const style = { "--columns": columns, "--rows": rows };
    const decided = this.state.position.row.length > 0 ? "decided" : "";
    const view = html`
      <div
        key=${rules.envId}
        class=${`board ${falls ? "falls" : "squares"} ${decided}`}
        style=${style}
      >
        <div class="grid" role="grid" aria-label=${`Board, ${size}`}>
          ${lines.map(
            (targets, row) => html`<div key=${row} class="row" role="row">${targets}</div>`,
          )}
        </div>
        ${falls && html`<div class="edge columns" aria-hidden="true">${numbers(rules)}</div>`}
      </div>
    `;
    render(view, this.element);
  }

  target(action) {
    const { rules, position, playable, isSetup } = this.state;
    const target = {
      action,
      landing: rules.cell(position, action), // null if the move is illegal
      values: this.values(action),
      isHint: this.state.hint === action,
    };
    const isPlayable = playable && (isSetup || target.landing !== null);
    const look = [rules.falls ? "column" : "square"];
    if (isPlayable) look.push("playable");
    if (target.isHint) look.push("hint");
    const name = rules.falls ? this.columnName(target) : this.squareName(target);
    if (!rules.falls && action === position.last) look.push("last");
    if (!rules.falls && position.row.includes(action)) look.push("won");
    return html`
      <div key=${action} class="target" role="gridcell">
        <button
          type="button"
          class=${look.join(" ")}
          aria-label=${name}
          aria-disabled=${String(!isPlayable)}
          tabindex=${action === this.cursor ? 0 : -1}
          onClick=${() => isPlayable && this.onPlay(action)}
          onFocus=${() => this.moveCursor(action)}
          onKeyDown=${(event) => this.onKey(event, action)}
        >
          ${rules.falls ? this.holes(target) : this.glyph(action)}
        </button>
        ${target.values.length > 0 && chips(target.values)}
      </div>
    `;
  }

  // What the layers say of an action: { layer, text, tone, spoken }.
  values(action) {
    return this.state.layers.flatMap(({ layer, values }) => {
      const value = values.get(action);
      return value ? [{ layer, ...value }] : [];
    });
  }

  squareName({ action, values, isHint }) {
    const { rules, position, marks } = this.state;
    const stone = rules.stone(position, action);
    const parts = [capital(rules.actionName(action)), stone ? LETTERS[stone] : "empty"];
    if (marks.has(action)) parts.push(marks.get(action).text);
    parts.push(...values.map((value) => value.spoken));
    if (isHint) parts.push("hint");
    if (position.row.includes(action)) parts.push("in the winning line");
    return parts.join(", ");
  }

  columnName({ action, values, isHint }) {
    const { rules, position, marks, owner } = this.state;
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
    parts.push(...values.map((value) => value.spoken));
    if (isHint) parts.push("hint");
    if (cells.some((cell) => position.row.includes(cell))) parts.push("in the winning row");
    return parts.join(", ");
  }

  // The content of a square.
  glyph(cell) {
    const { rules, position, marks } = this.state;
    const stone = rules.stone(position, cell);
    if (!stone) return html`<span class="number" aria-hidden="true">${rules.numberOf(cell)}</span>`;
    return html`${this.stone(cell, stone)}${sign(marks.get(cell))}`;
  }

  // The content of a column, from the top.
  holes({ action, landing }) {
    const { rules, position, playable, isSetup, marks } = this.state;
    const cells = columnCells(rules, action).reverse();
    return html`
      <span class="holes">
        ${cells.map((cell, row) => {
          const stone = rules.stone(position, cell);
          const isLanding = playable && !isSetup && cell === landing;
          const look = isLanding ? "hole landing" : "hole";
          return html`
            <span key=${cell} class=${look} style=${{ "--fall": row + 1 }}>
              ${stone && this.stone(cell, stone)}
              ${isLanding && this.stone(cell, rules.toMove(position))} ${sign(marks.get(cell))}
            </span>
          `;
        })}
      </span>
    `;
  }

  stone(cell, side) {
    const { rules, position } = this.state;
    const look = ["glyph"];
    if (cell === this.fresh) look.push("fresh");
    if (position.row.includes(cell)) look.push("won");
    const isLast = rules.falls && cell === position.last;
    return html`
      <svg key=${side} class=${look.join(" ")} viewBox="0 0 100 100" aria-hidden="true">
        ${stoneShape(rules, side)}
        ${isLast && html`<circle class="last-dot" cx="50" cy="50" r="11" />`}
      </svg>
    `;
  }

  onKey(event, action) {
    const { rows, columns, falls } = this.state.rules;
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
    this.buttons()[toRow * columns + toColumn].focus();
  }

  moveCursor(action) {
    if (action === this.cursor) return;
    this.cursor = action;
    this.render();
  }
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
  return html`
    <div class="chips" aria-hidden="true">
      ${values.map(
        ({ layer, text, tone }) => html`
          <span key=${layer} class=${`chip ${layer} ${tone}`}>
            <span class="layer">${LAYER_NAMES[layer]}</span>
            <span class="value">${text}</span>
          </span>
        `,
      )}
    </div>
  `;
}
