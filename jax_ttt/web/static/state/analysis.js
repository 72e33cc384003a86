// An analysis: the person moves both sides, sets up positions, or lets agents play.

import { SIDES } from "../engine/rules.js";
import { LEVELS, agentPlayer, isSolved, perfectPlayer } from "./levels.js";

const PERSON = "";
const EXPERT = "expert";
const NOBODY = { x: null, o: null };
const LEARNED = ["network", "table"]; // layers

// The stones of a position that is being set up, cell by cell: "x", "o" or null.
class Setup {
  constructor(rules, position) {
    this.rules = rules;
    this.stones = Array.from({ length: rules.numCells }, (_, cell) => rules.stone(position, cell));
    this.tool = "x"; // what a click does: set "x" or "o", or "remove" a stone
    this.check();
  }

  // Find out whether a game can lead to the stones: `result` is { position } or { error }.
  check() {
    this.result = this.rules.setUp(this.stones);
  }

  clear() {
    this.stones.fill(null);
    this.check();
  }

  // The stones as a position that the board shows; it need not be possible in a game.
  get position() {
    const signs = { x: 1, o: -1 };
    const cells = Int8Array.from(this.stones, (stone) => signs[stone] ?? 0);
    return { cells, sign: 1, last: null, row: [] };
  }

  // Set or remove a stone. Where stones fall, it lies on the others of its column, and the
  // topmost one is removed.
  act(action) {
    const { rules, stones } = this;
    if (this.tool === "remove") {
      const top = stones.findIndex((stone, i) => stone !== null && rules.actionOf(i) === action);
      if (top >= 0) stones[top] = null;
    } else {
      const cell = rules.falls ? rules.cell(this.position, action) : action;
      if (cell !== null) stones[cell] = this.tool;
    }
    this.check();
  }
}

export class Analysis {
  constructor(app) {
    this.app = app;
    this.movers = { x: PERSON, o: PERSON }; // who moves each side in a match
    this.isMatch = false; // whether they move now, and not the person alone
    this.setup = null; // the position that is being set up
    const others = [...app.settings.layers].filter((layer) => !LEARNED.includes(layer));
    this.layers = new Set([...others, "exact"]);
  }

  // Who can move a side: [id, title].
  get choices() {
    const { selection, rules } = this.app;
    const entries = selection.entries.map(({ id, title }) => [id, title]);
    const expert = isSolved(rules) ? [[EXPERT, LEVELS[EXPERT].name]] : [];
    return [[PERSON, "You"], ...entries, ...expert];
  }

  // The players of the game, as `Game` takes them.
  get players() {
    if (!this.isMatch) return NOBODY;
    const { x, o } = this.movers;
    return { x: this.playerOf(x), o: this.playerOf(o) };
  }

  playerOf(id) {
    const { engine, rules, agents, selection } = this.app;
    if (id === PERSON) return null;
    if (id === EXPERT) return perfectPlayer({ engine, rules });
    const load = () => agents.load(id);
    return agentPlayer({ engine, rules, load, depth: selection.choices.depth });
  }

  // Choose who moves a side in the next match.
  setMover(side, id) {
    this.stop();
    this.movers[side] = id;
    this.app.changed();
  }

  // Whether there is anybody to play a match.
  get canPlay() {
    return !this.isMatch && !this.setup && SIDES.some((side) => this.movers[side] !== PERSON);
  }

  // Let the chosen players move from the position that is shown; after the end of a game,
  // from its start. The moves that were there can be shown again.
  play() {
    const { game } = this.app.play;
    if (game.isOver && game.isLatest) game.at = 0;
    if (!game.isLatest) game.branch();
    this.isMatch = true;
    game.players = this.players;
    game.proceed({});
  }

  stop() {
    const { game } = this.app.play;
    this.isMatch = false;
    game.stop();
    game.players = this.players;
    this.app.changed();
  }

  // Set up a position from the one that is shown.
  beginSetup() {
    this.stop();
    const { rules, play } = this.app;
    this.setup = new Setup(rules, play.game.position);
    this.app.reveal();
    this.app.changed();
  }

  endSetup() {
    const { position } = this.setup.result;
    if (position) this.app.play.beginAnalysis(position);
  }

  cancelSetup() {
    this.setup = null;
    this.app.changed();
  }
}
