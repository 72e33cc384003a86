// An analysis: the person moves both sides, sets up positions, or lets agents play.

import { SIDES } from "../engine/rules.js";
import { LEVELS, agentPlayer, isSolved, perfectPlayer } from "./levels.js";
import { reveal } from "./messages.js";
import { observe } from "./observe.js";
import { KINDS } from "./selection.js";

const PERSON = "";
const EXPERT = "expert";
const NOBODY = { x: null, o: null };

// The stones of a position that is being set up, cell by cell: "x", "o" or null.
class Setup {
  stones; rules;
  tool = "x"; // what a click does: set "x" or "o", or "remove" a stone

  constructor(rules, position) {
    this.rules = rules;
    this.stones = Array.from({ length: rules.numCells }, (_, cell) => rules.stone(position, cell));
    observe(this, "stones", "tool");
  }

  // Whether a game can lead to the stones: { position } or { error }.
  get result() {
    return this.rules.setUp(this.stones);
  }

  clear() {
    this.stones = this.stones.map(() => null);
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
    const { rules } = this;
    const stones = [...this.stones];
    if (this.tool === "remove") {
      const top = stones.findIndex((stone, i) => stone !== null && rules.actionOf(i) === action);
      if (top >= 0) stones[top] = null;
    } else {
      const cell = rules.falls ? rules.cell(this.position, action) : action;
      if (cell !== null) stones[cell] = this.tool;
    }
    this.stones = stones;
  }
}

export class Analysis {
  engine; agents; selection; play; rules;
  chosenMovers = { x: PERSON, o: PERSON }; // in a match
  isMatch = false; // whether they move now, and not the person alone
  setup = null; // the position that is being set up
  layers; // that are shown on the board, a Set

  // `play` has the game on the board.
  constructor({ engine, settings, agents, selection, play }) {
    Object.assign(this, { engine, agents, selection, play, rules: settings.rules });
    const others = [...settings.layers].filter((layer) => !KINDS.includes(layer));
    this.layers = new Set([...others, "exact"]);
    observe(this, "chosenMovers", "isMatch", "setup", "layers");
  }

  showLayer(layer, isShown) {
    const others = [...this.layers].filter((other) => other !== layer);
    this.layers = new Set(isShown ? [...others, layer] : others);
  }

  // Who can move a side: [id, title].
  get choices() {
    const { selection, rules } = this;
    const entries = selection.entries.map(({ id, title }) => [id, title]);
    const expert = isSolved(rules) ? [[EXPERT, LEVELS[EXPERT].name]] : [];
    return [[PERSON, "You"], ...entries, ...expert];
  }

  // Who moves each side in a match: the person where the chosen agent is gone.
  get movers() {
    const ids = this.choices.map(([id]) => id);
    const { x, o } = this.chosenMovers;
    return { x: ids.includes(x) ? x : PERSON, o: ids.includes(o) ? o : PERSON };
  }

  // The players of the game, as `Game` takes them.
  get players() {
    if (!this.isMatch) return NOBODY;
    const { x, o } = this.movers;
    return { x: this.playerOf(x), o: this.playerOf(o) };
  }

  playerOf(id) {
    const { engine, rules, agents, selection } = this;
    if (id === PERSON) return null;
    if (id === EXPERT) return perfectPlayer({ engine, rules });
    const load = () => agents.load(id);
    return agentPlayer({ engine, rules, load, depth: selection.choices.depth });
  }

  // Choose who moves a side in the next match.
  setMover(side, id) {
    this.stop();
    this.chosenMovers = { ...this.chosenMovers, [side]: id };
  }

  // Whether there is anybody to play a match.
  get canPlay() {
    return !this.isMatch && !this.setup && SIDES.some((side) => this.movers[side] !== PERSON);
  }

  // Let the chosen players move from the position that is shown; after the end of a game,
  // from its start. The moves that were there can be shown again.
  beginMatch() {
    const { game } = this.play;
    if (game.isOver && game.isLatest) game.at = 0;
    if (!game.isLatest) game.branch();
    this.isMatch = true;
    game.players = this.players;
    game.proceed();
  }

  stop() {
    const { game } = this.play;
    this.isMatch = false;
    game.stop();
    game.players = this.players;
  }

  // Set up a position from the one that is shown.
  beginSetup() {
    this.stop();
    this.setup = new Setup(this.rules, this.play.game.position);
    reveal();
  }

  endSetup() {
    const { position } = this.setup.result;
    if (position) this.play.beginAnalysis(position);
  }

  cancelSetup() {
    this.setup = null;
  }
}
