// A game of columns between the person and an agent: its moves, and the agent's reply.

import { greedy, searchValues } from "page/lookahead";
import { REPLY_DELAY, pause } from "page/pause";

export class ColumnGame extends EventTarget {
  // `opponent` has an id, its `rules`, a `network` and the discount `gamma`.
  constructor() {
    super();
    this.token = 0; // of the latest action: a late reply to an earlier one is ignored
    this.depth = 0; // moves that the agent looks ahead
    this.searched = false; // whether it did so in this game
  }

  start(opponent, side) {
    Object.assign(this, { opponent, side, rules: opponent.rules });
    this.moves = [];
    this.positions = [this.rules.start];
    this.searched = false;
    this.token += 1;
    this.changed({ started: true });
    return this.reply();
  }

  get position() {
    return this.positions.at(-1);
  }

  get isOver() {
    return this.rules.isOver(this.position);
  }

  get isPersonsTurn() {
    return this.rules.toMove(this.position) === this.side;
  }

  get result() {
    return this.rules.result(this.position, this.side);
  }

  get hasBegun() {
    return this.beforeOwn !== null;
  }

  // The number of moves before the person's latest one, or null.
  get beforeOwn() {
    const first = this.side === "x" ? 0 : 1;
    const count = this.moves.length;
    return count > first ? count - 1 - ((count - 1 - first) % 2) : null;
  }

  // The value of each column to the player to move, as the agent computes it.
  values() {
    const { network, gamma } = this.opponent;
    return searchValues(this.rules, network, this.position, this.depth, gamma);
  }

  changed(detail) {
    this.dispatchEvent(new CustomEvent("change", { detail }));
  }

  put(column) {
    const after = this.rules.after(this.position, column);
    if (after === null) return false;
    this.moves = [...this.moves, column];
    this.positions = [...this.positions, after];
    this.changed({ moved: true });
    return true;
  }

  async play(column) {
    if (this.isPersonsTurn && this.put(column)) await this.reply();
  }

  async reply() {
    if (this.isOver || this.isPersonsTurn) return;
    const { token } = this;
    await pause(REPLY_DELAY);
    if (token !== this.token) return;
    if (this.depth) this.searched = true;
    this.put(greedy(this.values(), this.position));
  }

  undo() {
    if (!this.hasBegun) return;
    const count = this.beforeOwn;
    this.token += 1;
    this.moves = this.moves.slice(0, count);
    this.positions = this.positions.slice(0, count + 1);
    this.changed({ undone: true });
  }
}
