// A board of columns: each one is a button, for mouse, touch and keyboard.

import { html, svg } from "page/dom";
import { greedy } from "page/lookahead";
import { signed, spoken, toneOf } from "page/words";

const OWNERS = { true: "yours", false: "the agent's" };

export class ColumnBoard {
  constructor(element, onPlay) {
    Object.assign(this, { element, onPlay });
    this.rules = null;
    this.columns = [];
    // A digit is a column, unless the focus is outside the game.
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      const inside = target === document.body || element.parentElement.contains(target);
      const column = Number(event.key) - 1;
      if (!inside || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
      if (column in this.columns) this.onPlay(column);
    });
  }

  // Make the columns of a game's board.
  build(rules) {
    this.rules = rules;
    this.columns = Array.from({ length: rules.columns }, (_, column) => {
      // It lies over the button, whose name says it in words.
      const value = html("span", { class: "value", "aria-hidden": "true" });
      const holes = Array.from({ length: rules.rows }, () => html("span", { class: "hole" }));
      const number = html("span", { class: "number", text: column + 1 });
      const button = html(
        "button",
        {
          type: "button",
          class: "column",
          on: {
            click: () => this.onPlay(column),
            focus: () => this.rove(column, false),
            keydown: (event) => this.key(event, column),
          },
        },
        html("span", { class: "holes" }, ...holes),
        number,
      );
      return { button, value, holes };
    });
    const lanes = this.columns.map(({ button, value }) =>
      html("div", { class: "lane" }, button, value),
    );
    this.element.replaceChildren(...lanes);
    this.element.setAttribute("aria-label", `Board, ${rules.columns} columns of ${rules.rows}`);
    this.rove(Math.floor(rules.columns / 2), false);
  }

  key(event, column) {
    const last = this.columns.length - 1;
    const to = {
      ArrowLeft: Math.max(column - 1, 0),
      ArrowRight: Math.min(column + 1, last),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.rove(to, true);
  }

  // Let the tab key reach this column alone; move the focus there if asked.
  rove(column, focus) {
    this.columns.forEach(({ button }, i) => {
      button.tabIndex = i === column ? 0 : -1;
    });
    if (focus) this.columns[column].button.focus();
  }

  // `values` are those of the columns to the player to move, or null.
  show({ position, side, playable, moved, values }) {
    const { rules } = this;
    const won = new Set(position.row);
    const best = values && greedy(values, position);
    this.element.classList.toggle("decided", won.size > 0);
    this.columns.forEach(({ button, value, holes }, column) => {
      const landing = playable ? rules.cell(position, column) : null;
      const stones = [];
      holes.forEach((hole, row) => {
        const cell = row * rules.columns + column;
        const stone = rules.stone(position, cell);
        if (stone) stones.unshift(OWNERS[stone === side]);
        const look = { isLast: cell === position.last, isWon: won.has(cell) };
        const fresh = look.isLast && moved;
        const shown = stone ?? (cell === landing ? side : null);
        hole.className = `hole${stone || !shown ? "" : " landing"}${fresh ? " fresh" : ""}`;
        hole.replaceChildren(...(shown ? [disc(shown, look)] : []));
        hole.style.setProperty("--row", row + 1);
      });
      const valued = values && !Number.isNaN(values[column]);
      value.className = `value ${valued ? toneOf(values[column], column === best) : ""}`;
      value.textContent = valued ? signed(values[column]) : "";
      button.classList.toggle("playable", landing !== null);
      button.setAttribute("aria-disabled", String(landing === null));
      const about = [`Column ${column + 1}`, described(stones, rules.rows)];
      if (valued) about.push(`value ${spoken(values[column])}`);
      if (valued && column === best) about.push("the agent's move");
      if (holes.some((_, row) => won.has(row * rules.columns + column))) {
        about.push("in the winning row");
      }
      button.setAttribute("aria-label", about.join(", "));
    });
  }
}

// The stones of a column in words, from the lowest one.
function described(stones, rows) {
  if (stones.length === 0) return "empty";
  const free = rows - stones.length;
  return `from below ${stones.join(", ")}; ${free ? `${free} free` : "full"}`;
}

function disc(side, { isLast, isWon }) {
  const circle = (name, r) => svg("circle", { class: name, cx: 50, cy: 50, r });
  const parts = [circle(`disc ${side}`, 46)];
  // The second player's stones have a ring, so that colour is not all.
  if (side === "o") parts.push(circle("inner", 31));
  if (isLast) parts.push(circle("last", 11));
  if (isWon) parts.push(circle("won", 45));
  const picture = svg("svg", { class: `stone-disc${isWon ? " won" : ""}`, viewBox: "0 0 100 100" });
  picture.setAttribute("aria-hidden", "true");
  picture.append(...parts);
  return picture;
}
