// An agent that learns, as the page shows it: in this page (training.js), or in a run that
// another process trains (followed_run.js).

import { provenFrom, byFile, isBeaten } from "./grades.js";
import { announce } from "./messages.js";
import { observe } from "./observe.js";
import { KINDS } from "./selection.js";
import { number } from "./words.js";

const STATES = {
  idle: "Not started",
  waiting: "Waiting for the server…",
  running: "Training",
  paused: "Paused",
  finished: "Finished",
  failed: "Failed",
  stopped: "Stopped",
  gone: "Deleted",
};
const MOMENT = 5000; // milliseconds for which the board says that an agent is proven

export class Learning {
  agents; play; selection; shown; openGame; showCurves;
  state = "idle"; // of STATES
  rules = null; // of its game, null if the page does not know them
  /** @type {any} */
  figures = null; // { update, num_updates, games, loss, ... }
  rows = []; // the evaluations: [{ update, grade, games, loss, seconds }]
  isJustProven = false; // whether its first proof was a moment ago

  // `parts` has { agents, play, selection, shown }, `openGame(envId)` opens another game, and
  // `showCurves(learning)` shows the curves of this one, or by null of the selected agent.
  constructor(parts, { openGame, showCurves }) {
    const { agents, play, selection, shown } = parts;
    Object.assign(this, { agents, play, selection, shown, openGame, showCurves });
    observe(this, "state", "rules", "figures", "rows", "isJustProven");
    this.wasProven = false; // whether a proof of it was announced
  }

  // The id of its agent, or null.
  get agentId() {
    return null;
  }

  // More of its state in words.
  get details() {
    return "";
  }

  get isBusy() {
    return this.state === "running" || this.state === "paused";
  }

  // Its agent in the list, or null.
  get entry() {
    return this.agentId === null ? null : this.agents.get(this.agentId);
  }

  // The state in words: "Training: update 50 of 400".
  get stateText() {
    const { update, num_updates: end } = this.figures;
    const updates = update ? `: update ${number(update)} of ${number(end)}` : "";
    return STATES[this.state] + updates + this.details;
  }

  // How much of the training is over, 0 to 1; a proof can end it early.
  get share() {
    const { update, num_updates: end } = this.figures;
    return this.state === "finished" ? 1 : update / Math.max(end, 1);
  }

  get provenAt() {
    return provenFrom(this.rows);
  }

  // Which seat its grade is about, where it learns one alone: " moving first"; else "".
  get seatText() {
    const { seats = [] } = this.rows.at(-1)?.grade ?? {};
    return seats.length === 1 ? ` moving ${seats[0]}` : "";
  }

  get proofText() {
    if (this.rows.length === 0) return "";
    if (this.provenAt === null) {
      return isBeaten(this.rows.at(-1).grade) ? "Can still be beaten" : "Not proven";
    }
    const since = `proven from update ${number(this.provenAt)} on`;
    return `Unbeatable${this.seatText}, ${since}${byFile(this.rows)}`;
  }

  // Whether the first proof is to be shown; it may have lost it again since.
  get isMoment() {
    return this.isJustProven && this.provenAt !== null;
  }

  get sinceText() {
    return `proven at update ${number(this.provenAt)}${byFile(this.rows)}`;
  }

  get momentText() {
    return `Unbeatable${this.seatText}, ${this.sinceText}`;
  }

  // Forget the rows, for another training.
  clear() {
    this.rows = [];
    this.isJustProven = false;
    this.wasProven = false;
  }

  // Take over evaluations. An update that was evaluated again has the later row.
  addRows(rows) {
    const byUpdate = new Map([...this.rows, ...rows].map((row) => [row.update, row]));
    this.rows = [...byUpdate.values()];
  }

  setState(state) {
    if (state !== this.state) announce(`Training: ${STATES[state]}`);
    this.state = state;
  }

  // Say the first proof once: to screen readers, in the panel, and for a moment on the board.
  celebrateProof() {
    if (this.wasProven || this.provenAt === null) return;
    this.wasProven = true;
    announce(this.momentText);
    this.isJustProven = true;
    clearTimeout(this.momentTimer);
    this.momentTimer = setTimeout(() => {
      this.isJustProven = false;
    }, MOMENT);
  }

  // ---- the board

  // The game that is learned where another one is open: "Tic-tac-toe"; else "".
  get otherGame() {
    const { rules } = this;
    return rules === null || rules === this.play.game.rules ? "" : rules.title;
  }

  // Whether the board shows the agent, with its values.
  get isOnBoard() {
    const { entry } = this;
    const { selection, shown } = this;
    if (entry === null || selection.agent?.id !== entry.id) return false;
    return selection.update === null && shown.layers.has(entry.kind);
  }

  openOwnGame() {
    if (this.otherGame) this.openGame(this.rules.envId);
  }

  // Show the values and the next moves of the agent on the board, and no other learned values.
  showOnBoard() {
    const { id, kind } = this.entry;
    const { play, shown } = this;
    this.openOwnGame();
    play.select(id);
    if (play.game.isOver && !play.analysis) play.newGame();
    for (const learned of KINDS) shown.showLayer(learned, learned === kind);
    shown.showLayer("line", true);
  }

  // The same at the start, where no game is lost by it.
  showAtStart() {
    const { play } = this;
    if (!this.otherGame && (play.analysis || !play.isUnderWay)) this.showOnBoard();
  }

  // Show a line of play in which the agent loses; `side` is the agent's.
  demonstrate(line, side) {
    this.openOwnGame();
    if (this.entry !== null) this.play.select(this.agentId);
    this.play.demonstrate(line, side);
  }
}
