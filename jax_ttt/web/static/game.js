// The game on the board: its moves, the position that is shown, and who replies.

import { START, other } from "page/tree";
import { REPLY_DELAY, pause } from "page/pause";
import { reply } from "page/replies";

const KEPT = "jax_ttt.game"; // the name of the server's game in this tab
const DEMO_DELAY = 900; // ms between the moves of a demonstration

export class Game extends EventTarget {
  // `learned()` resolves to the action values of the learned agent that is selected.
  constructor(tree, source, learned) {
    super();
    Object.assign(this, { tree, source, learned });
    this.token = 0; // of the latest action: a late reply to an earlier one is ignored
    this.reset("x", { level: "medium" });
  }

  reset(side, opponent) {
    this.side = side; // the person's
    this.opponent = opponent; // { level, agent, update }
    this.moves = [];
    this.positions = [START];
    this.at = 0; // moves before the position that is shown
    this.id = null; // of the server's game
    this.counted = true; // whether it enters the statistics
    this.demo = false; // whether the page plays both sides, to show a line
    this.waiting = false;
    this.error = null;
    this.token += 1;
  }

  get position() {
    return this.positions[this.at];
  }

  get last() {
    return this.positions.at(-1);
  }

  get isLatest() {
    return this.at === this.moves.length;
  }

  get result() {
    return this.tree.result(this.last, this.side);
  }

  get isOver() {
    return this.tree.isOver(this.last);
  }

  // Whether the person may put a stone into the position that is shown.
  get isPersonsTurn() {
    if (this.demo || this.waiting) return false;
    return this.tree.toMove(this.position) === this.side;
  }

  changed(detail = {}) {
    this.dispatchEvent(new CustomEvent("change", { detail }));
  }

  async start(side, opponent) {
    this.reset(side, opponent);
    const token = this.token;
    this.changed({ started: true });
    if (this.source.games) {
      await this.asked(token, () => this.source.games.start(opponent, side));
    } else await this.answer(token);
  }

  // Set up the position of a link, and return whether there is one. If it is no game of
  // the server's, it is played on without being counted.
  async open({ moves, side }, opponent) {
    const positions = this.tree.walk(moves);
    if (positions === null) return false;
    if (moves.length === 0) {
      await this.start(side, opponent);
      return true;
    }
    const found = await this.kept(moves, side);
    this.reset(side, opponent);
    Object.assign(this, { moves, positions, at: moves.length, counted: false });
    this.id = found?.id ?? null;
    const token = this.token;
    this.changed({ started: true });
    if (this.id === null && !this.isOver) await this.answer(token);
    return true;
  }

  // The server's game of this tab, if it has these moves.
  async kept(moves, side) {
    try {
      const id = sessionStorage.getItem(KEPT);
      const found = this.source.games && id && (await this.source.games.get(id));
      const same = found && found.side === side && found.moves.join() === moves.join();
      return same ? found : null;
    } catch {
      return null;
    }
  }

  keep() {
    try {
      sessionStorage.setItem(KEPT, this.id);
    } catch {
      // a reload then continues without the server
    }
  }

  async play(square) {
    if (!this.isPersonsTurn || this.tree.after(this.position, square) === null) return;
    this.token += 1;
    const token = this.token;
    if (!this.isLatest) this.branch();
    const before = this.moves.length;
    this.put(square);
    this.changed({ moved: true });
    if (this.id !== null) {
      await this.asked(token, () => this.source.games.move(this.id, before, square), before);
    } else await this.answer(token);
  }

  // Play on from an earlier position: what follows is not counted.
  branch() {
    this.cut(this.at);
    this.id = null;
    this.counted = false;
  }

  put(square) {
    this.moves = [...this.moves, square];
    this.positions = [...this.positions, this.tree.after(this.last, square)];
    this.at = this.moves.length;
    this.error = null;
  }

  cut(count) {
    this.moves = this.moves.slice(0, count);
    this.positions = this.positions.slice(0, count + 1);
    this.at = count;
  }

  // Take the state of the server's game.
  take(found) {
    this.id = found.id;
    this.moves = found.moves;
    this.positions = this.tree.walk(found.moves);
    this.at = found.moves.length;
    this.keep();
  }

  async asked(token, ask, back = this.moves.length) {
    this.waiting = true;
    this.changed();
    try {
      const found = await ask();
      if (token !== this.token) return;
      this.take(found);
      this.error = null;
    } catch (error) {
      if (token !== this.token) return;
      this.cut(back);
      this.error = error.message;
    }
    this.waiting = false;
    this.changed({ moved: true, ended: this.isOver });
  }

  async answer(token) {
    if (this.isOver) return this.ended();
    if (this.tree.toMove(this.last) === this.side) return null;
    this.waiting = true;
    this.changed();
    try {
      const [values] = await Promise.all([this.learned(), pause(REPLY_DELAY)]);
      if (token !== this.token) return null;
      this.put(reply(this.tree, this.opponent.level, values, this.last));
    } catch (error) {
      if (token !== this.token) return null;
      this.error = error.message;
    }
    this.waiting = false;
    if (this.isOver) return this.ended();
    return this.changed({ moved: true });
  }

  ended() {
    if (this.counted && !this.source.games) {
      this.source.statistics.record(this.result, this.side, this.opponent, this.moves);
      this.counted = false; // once, also if moves are undone afterwards
    }
    this.changed({ moved: true, ended: true });
  }

  get canUndo() {
    return !this.demo && this.before !== null;
  }

  // The number of moves before the person's latest one, or null.
  get before() {
    for (let count = this.moves.length - 1; count >= 0; count -= 1) {
      if (this.tree.toMove(this.positions[count]) === this.side) return count;
    }
    return null;
  }

  async undo() {
    if (!this.canUndo) return;
    this.token += 1;
    const token = this.token;
    this.waiting = false;
    if (this.id !== null) {
      const ply = this.moves.length;
      await this.asked(token, () => this.source.games.undo(this.id, ply));
    } else {
      this.cut(this.before);
      this.error = null;
      this.changed({ undone: true });
    }
  }

  goTo(count) {
    this.at = Math.max(0, Math.min(count, this.moves.length));
    this.token += this.demo ? 1 : 0; // a demonstration stops where the person looks
    this.changed({ moved: true, replayed: true });
  }

  // Show a line of play, move by move; `side` is the agent's.
  async demonstrate(line, side) {
    this.reset(other(side), this.opponent);
    Object.assign(this, { demo: true, counted: false });
    this.moves = line;
    this.positions = this.tree.walk(line);
    const token = this.token;
    this.changed({ started: true });
    while (!this.isLatest) {
      await pause(DEMO_DELAY);
      if (token !== this.token) return;
      this.at += 1;
      this.changed({ moved: true });
    }
  }
}
