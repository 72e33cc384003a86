// A game on the board: its moves, the shown position, and the mover of each side.

import { SIDES } from "../engine/rules.js";
import { batch } from "../vendor/preact.js";
import { observe } from "./observe.js";

const REPLY_DELAY = 300; // ms, so that a reply is seen as a move of its own
const DEMO_DELAY = 900; // ms between the moves of a line that is shown

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export class Game {
  rules; players; stepped; start;
  moves = [];
  positions = [];
  at = 0; // moves before the position that is shown
  original = null; // { moves, notCounted } before the person branched off, or null
  notCounted = null; // why the game does not enter the statistics, or null
  isCounted = false; // whether it is in the statistics
  isDemo = false; // whether these moves are only shown, and nobody plays
  waiting = false; // for a player's move
  error = null;
  moved = false; // whether the latest stone was set just now

  // `players` has for each side a function that resolves to the move in a position, or
  // null where the person moves. `stepped()` is called after each change of the position that is
  // shown, with { ended } where a move ended the game.
  constructor({ rules, players, stepped, start = rules.start, moves = [] }) {
    Object.assign(this, { rules, players, stepped, start, positions: [start] });
    observe(this, "players", "moves", "positions", "at", "original", "notCounted");
    observe(this, "isCounted", "isDemo", "waiting", "error", "moved");
    for (const action of moves) this.put(action);
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

  // Let the players move until it is the person's turn, or the game is over. The position that
  // is shown is the one after a move of the person (`moved`), or of a game that begins (`started`).
  async proceed({ moved = false, started = false } = {}) {
    this.turn += 1;
    const { turn } = this;
    this.moved = moved;
    let isNew = moved || started;
    for (;;) {
      const player = this.isDemo ? null : this.players[this.rules.toMove(this.latest)];
      this.waiting = Boolean(player);
      if (isNew) this.stepped({ ended: this.isOver && this.moved });
      if (!player) return;
      try {
        const [action] = await Promise.all([player(this.latest), pause(REPLY_DELAY)]);
        if (turn !== this.turn) return;
        this.putNext(action);
      } catch (error) {
        if (turn !== this.turn) return;
        batch(() => Object.assign(this, { waiting: false, moved: false, error: error.message }));
        return;
      }
      isNew = true;
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
    batch(() => {
      if (!this.isLatest) this.branch();
      this.putNext(action);
    });
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
    batch(() => {
      Object.assign(this, { original: null, notCounted, moved: false });
      this.cut(0);
      for (const action of moves) this.put(action);
    });
    return this.proceed();
  }

  // A move that is made now.
  putNext(action) {
    batch(() => {
      this.put(action);
      Object.assign(this, { moved: true, waiting: false, error: null });
    });
  }

  put(action) {
    const after = this.rules.after(this.latest, action);
    if (after === null) throw new Error("This move is not possible.");
    batch(() => {
      const follows = this.at === this.moves.length;
      this.moves = [...this.moves, action];
      this.positions = [...this.positions, after];
      if (follows) this.at = this.moves.length;
    });
  }

  cut(count) {
    batch(() => {
      this.moves = this.moves.slice(0, count);
      this.positions = this.positions.slice(0, count + 1);
      this.at = count;
    });
  }

  undo() {
    if (!this.hasBegun) return;
    this.stop();
    batch(() => {
      this.cut(this.lastOwn);
      this.error = null;
      this.notCounted ??= "a move was taken back";
      this.moved = false;
    });
    this.stepped({ ended: false });
  }

  // Show the position after this many moves.
  goTo(count) {
    const shown = Math.max(0, Math.min(count, this.moves.length));
    if (shown === this.at) return;
    if (this.isDemo) this.stop();
    this.showAfter(shown);
  }

  showAfter(count) {
    batch(() => Object.assign(this, { moved: count > this.at, at: count }));
    this.stepped({ ended: false });
  }

  // Show the moves of this game one after another; nobody plays.
  async demonstrate() {
    this.isDemo = true;
    this.turn += 1;
    const { turn } = this;
    this.showAfter(0);
    while (!this.isLatest) {
      await pause(DEMO_DELAY);
      if (turn !== this.turn) return;
      this.showAfter(this.at + 1);
    }
  }
}
