// The board: a grid of buttons for mouse, touch and keyboard, with values on free squares.

import { html, svg } from "page/dom";
import { describe } from "page/values";

export function stoneShape(side) {
  if (side === "o") {
    return svg("circle", { class: "stone o", cx: 50, cy: 50, r: 28 });
  }
  return svg("path", { class: "stone x", d: "M24 24 L76 76 M76 24 L24 76" });
}

// A line through the centres of the first and the last cell of a won line.
export function lineShape(tree, cells, margin = 26) {
  const [from, to] = [cells[0], cells.at(-1)].map((cell) => [
    (cell % tree.columns) * 100 + 50,
    Math.floor(cell / tree.columns) * 100 + 50,
  ]);
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const [dx, dy] = [0, 1].map((i) => ((to[i] - from[i]) / length) * margin);
  return svg("line", {
    class: "won-line",
    x1: from[0] - dx,
    y1: from[1] - dy,
    x2: to[0] + dx,
    y2: to[1] + dy,
  });
}

export class Board {
  constructor(element, tree, onPlay) {
    Object.assign(this, { element, tree, onPlay });
    this.focused = 0;
    this.squares = [];
    this.overs = []; // what is shown over each square
    for (let row = 0; row < tree.rows; row += 1) {
      const line = html("div", { role: "row", class: "row" });
      for (let column = 0; column < tree.columns; column += 1) {
        const cell = row * tree.columns + column;
        const square = html("button", {
          type: "button",
          class: "square",
          on: {
            click: () => this.onPlay(cell),
            focus: () => this.rove(cell, false),
            keydown: (event) => this.key(event, cell),
          },
        });
        // Values lie over the button, whose name says them in words.
        const over = html("div", { class: "values", "aria-hidden": "true" });
        this.squares.push(square);
        this.overs.push(over);
        line.append(html("div", { role: "gridcell", class: "cell" }, square, over));
      }
      element.append(line);
    }
    const size = `0 0 ${100 * tree.columns} ${100 * tree.rows}`;
    this.over = svg("svg", { class: "over", viewBox: size, "aria-hidden": "true" });
    element.append(this.over);
    this.rove(0, false);
  }

  key(event, cell) {
    const { rows, columns } = this.tree;
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const to = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, columns - 1],
    }[event.key];
    if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const inside = ([y, x]) => y >= 0 && y < rows && x >= 0 && x < columns;
    if (inside(to)) this.rove(to[0] * columns + to[1], true);
  }

  // Let the tab key reach this square alone; move the focus there if asked.
  rove(cell, focus) {
    this.focused = cell;
    this.squares.forEach((square, i) => {
      square.tabIndex = i === cell ? 0 : -1;
    });
    if (focus) this.squares[cell].focus();
  }

  // `view`: position, last (the latest move or null), marks (by square), playable,
  // moved (whether a move has just been made), layers, hints.
  show(view) {
    const { tree } = this;
    const won = tree.wonLines(view.position);
    const wonCells = new Set(won.flat());
    this.squares.forEach((square, cell) => {
      const stone = tree.stone(view.position, cell);
      const hint = stone === null && view.hints.includes(cell);
      const spoken = [capital(tree.squareName(cell)), stone ? tree.letters[stone] : "empty"];
      const parts = [];
      const over = [];
      if (stone) {
        const fresh = cell === view.last && view.moved ? " fresh" : "";
        const shape = svg("svg", { class: `glyph${fresh}`, viewBox: "0 0 100 100" });
        shape.setAttribute("aria-hidden", "true");
        shape.append(stoneShape(stone));
        parts.push(shape);
        const mark = view.marks.get(cell);
        if (mark) {
          over.push(html("span", { class: "mark", text: mark.sign }));
          spoken.push(mark.text);
        }
      } else if (!tree.isOver(view.position)) {
        const shown = describe(tree, view.layers, view.position, cell);
        if (shown.length) over.push(chips(shown));
        spoken.push(...shown.map((one) => one.spoken));
      }
      if (hint) spoken.push("a perfect move");
      if (wonCells.has(cell)) spoken.push("in the winning line");
      square.replaceChildren(...parts);
      this.overs[cell].replaceChildren(...over);
      square.setAttribute("aria-label", spoken.join(", "));
      square.setAttribute("aria-disabled", String(!(view.playable && stone === null)));
      square.classList.toggle("playable", view.playable && stone === null);
      square.classList.toggle("last", cell === view.last);
      square.classList.toggle("hint", hint);
      square.classList.toggle("won", wonCells.has(cell));
    });
    this.over.replaceChildren(...won.map((cells) => lineShape(tree, cells)));
  }
}

function chips(shown) {
  const rows = shown.map((one) =>
    html(
      "span",
      { class: `chip ${one.tone}` },
      html("span", { class: "layer", text: one.layer === "network" ? "net" : one.layer }),
      html("span", { class: "value", text: one.text }),
    ),
  );
  return html("span", { class: "chips" }, ...rows);
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
