// A game on the board: its moves, the shown position, and the mover of each side.

import { SIDES } from "../engine/rules.js";

const REPLY_DELAY = 300; // ms, so that a reply is seen as a move of its own
const DEMO_DELAY = 900; // ms between the moves of a line that is shown

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export class Game {
  rules; players; changed; start;

  // `players` has for each side a function that resolves to the move in a position, or
  // null where the person moves. `changed()` is called after each change, with
  // { moved, ended, started, undone } where that holds.
  constructor({ rules, players, changed, start = rules.start, moves = [] }) {
    Object.assign(this, { rules, players, changed, start });
    this.moves = [];
    this.positions = [start];
    for (const action of moves) this.put(action);
    this.at = this.moves.length; // moves before the position that is shown
    this.original = null; // { moves, notCounted } before the person branched off, or null
    this.notCounted = null; // why the game does not enter the statistics, or null
    this.isCounted = false; // whether it is in the statistics
    this.isDemo = false; // whether these moves are only shown, and nobody plays
    this.waiting = false; // for a player's move
    this.error = null;
    this.turn = 0; // grows with each action, so that a late reply to an old one is dropped
  }

  get position() {
    return this.positions[this.at];
  }

  get latest() {
    return this.positions.at(-1);
  }

  get isLatest() {
    return this.at === this.moves.length;
  }

  get isOver() {
    return this.rules.isOver(this.latest);
  }

  // The sides that the person moves.
  get personSides() {
    return this.isDemo ? [] : SIDES.filter((side) => this.players[side] === null);
  }

  // The one side of the person, or null where they move both or none.
  get side() {
    const sides = this.personSides;
    return sides.length === 1 ? sides[0] : null;
  }

  // "won", "drawn" or "lost" for the person, or null before the end.
  get result() {
    return this.side === null ? null : this.rules.result(this.latest, this.side);
  }

  // Whether the person may move in the position that is shown.
  get isPersonsTurn() {
    if (this.waiting && this.isLatest) return false;
    return this.personSides.includes(this.rules.toMove(this.position));
  }

  // Whether the person has made a move.
  get hasBegun() {
    return this.lastOwn !== null;
  }

  // The number of moves before the person's latest one, or null.
  get lastOwn() {
    for (let count = this.moves.length - 1; count >= 0; count -= 1) {
      if (this.personSides.includes(this.rules.toMove(this.positions[count]))) return count;
    }
    return null;
  }

  // Let the players move until it is the person's turn, or the game is over.
  async proceed(detail = {}) {
    this.turn += 1;
    const { turn } = this;
    let details = detail;
    for (;;) {
      const player = this.isDemo ? null : this.players[this.rules.toMove(this.latest)];
      this.waiting = Boolean(player);
      this.changed({ ...details, ended: this.isOver && Boolean(details.moved) });
      if (!player) return;
      try {
        const [action] = await Promise.all([player(this.latest), pause(REPLY_DELAY)]);
        if (turn !== this.turn) return;
        this.put(action);
        this.error = null;
      } catch (error) {
        if (turn !== this.turn) return;
        this.waiting = false;
        this.error = error.message;
        this.changed({});
        return;
      }
      this.waiting = false;
      details = { moved: true };
    }
  }

  // Stop the players, for instance before another game is shown.
  stop() {
    this.turn += 1;
    this.waiting = false;
  }

  // Play the person's move in the position that is shown; an illegal one does nothing.
  async play(action) {
    if (!this.isPersonsTurn || this.rules.after(this.position, action) === null) return;
    if (!this.isLatest) this.branch();
    this.put(action);
    this.error = null;
    await this.proceed({ moved: true });
  }

  // Play on from an earlier position. The first line is kept.
  branch() {
    const { moves, notCounted } = this;
    this.original ??= { moves, notCounted };
    this.notCounted = "you played on from an earlier position";
    this.cut(this.at);
  }

  // Show the line again from which the person branched off.
  restore() {
    this.stop();
    const { moves, notCounted } = this.original;
    this.original = null;
    this.notCounted = notCounted;
    this.cut(0);
    for (const action of moves) this.put(action);
    return this.proceed({});
  }

  put(action) {
    const after = this.rules.after(this.latest, action);
    if (after === null) throw new Error("This move is not possible.");
    const follows = this.at === this.moves.length;
    this.moves = [...this.moves, action];
    this.positions = [...this.positions, after];
    if (follows) this.at = this.moves.length;
  }

  cut(count) {
    this.moves = this.moves.slice(0, count);
    this.positions = this.positions.slice(0, count + 1);
    this.at = count;
  }

  undo() {
    if (!this.hasBegun) return;
    this.stop();
    this.cut(this.lastOwn);
    this.error = null;
    this.notCounted ??= "a move was taken back";
    this.changed({ undone: true });
  }

  // Show the position after this many moves.
  goTo(count) {
    const shown = Math.max(0, Math.min(count, this.moves.length));
    if (shown === this.at) return;
    const isForward = shown > this.at;
    this.at = shown;
    if (this.isDemo) this.stop();
    this.changed({ moved: isForward, stepped: true });
  }

  // Show the moves of this game one after another; nobody plays.
  async demonstrate() {
    this.isDemo = true;
    this.at = 0;
    this.turn += 1;
    const { turn } = this;
    this.changed({ started: true });
    while (!this.isLatest) {
      await pause(DEMO_DELAY);
      if (turn !== this.turn) return;
      this.at += 1;
      this.changed({ moved: true });
    }
  }
}
