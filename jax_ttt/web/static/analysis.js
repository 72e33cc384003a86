// Setting up a position, for an analysis.

import { html } from "./vendor/htm-preact.js";
import { Radios } from "./ui.js";

// The stones of a position that is being set up, cell by cell: "x", "o" or null.
export class Setup {
  constructor(rules, position) {
    this.rules = rules;
    this.stones = Array.from({ length: rules.numCells }, (_, cell) => rules.stone(position, cell));
    this.tool = "x"; // what a click sets: "x", "o", or "remove"
  }

  // The stones as a position that the board shows; it need not be possible in a game.
  get position() {
    const signs = { x: 1, o: -1 };
    const cells = Int8Array.from(this.stones, (stone) => signs[stone] ?? 0);
    return { cells, sign: 1, last: null, row: [] };
  }

  // Set or remove a stone. Where stones fall, it lies on the others of its column, and
  // the topmost one is removed.
  act(action) {
    const { rules, position, stones } = this;
    if (this.tool === "remove") {
      const cell = this.topStone(action);
      if (cell !== null) stones[cell] = null;
      return;
    }
    const cell = rules.falls ? rules.cell(position, action) : action;
    if (cell !== null) stones[cell] = this.tool;
  }

  // The cell of the topmost stone that an action has set, or null.
  topStone(action) {
    const { rules, stones } = this;
    const cell = stones.findIndex((stone, i) => stone !== null && rules.actionOf(i) === action);
    return cell < 0 ? null : cell;
  }

  clear() {
    this.stones.fill(null);
  }

  // { position } of a game, or { error } with the reason.
  result() {
    return this.rules.setUp(this.stones);
  }
}

export function SetupTools({ app }) {
  const { setup } = app.analysis;
  if (!setup) {
    return html`<div class="bar">
      <button type="button" onClick=${() => app.beginSetup()}>Set up a position</button>
    </div>`;
  }
  const { letters } = app.rules;
  const tools = [
    ["x", letters.x],
    ["o", letters.o],
    ["remove", "Remove"],
  ];
  const use = (tool) => {
    setup.tool = tool;
    app.changed();
  };
  const clear = () => {
    setup.clear();
    app.changed();
  };
  const { error } = setup.result();
  return html`
    <${Radios}
      name="tool"
      legend="A click on the board sets"
      options=${tools}
      value=${setup.tool}
      onChange=${use}
    />
    <p class="note">${error ?? "The side to move follows from the numbers of stones."}</p>
    <div class="bar">
      <button
        type="button"
        class="primary"
        disabled=${Boolean(error)}
        onClick=${() => app.endSetup()}
      >
        Analyse this position
      </button>
      <button type="button" onClick=${clear}>Empty the board</button>
      <button type="button" onClick=${() => app.cancelSetup()}>Cancel</button>
    </div>
  `;
}
