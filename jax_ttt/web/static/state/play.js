// What is played: the game on the board, its opponent, and an analysis or a shown line of
// play, which interrupt a game.

import { SIDES, other } from "../engine/rules.js";
import { readTab, writeTab } from "../files/storage.js";
import { batch, effect } from "../vendor/preact.js";
import { Analysis } from "./analysis.js";
import { Game } from "./game.js";
import { isLevel } from "./levels.js";
import { toHash } from "./links.js";
import { reveal, say } from "./messages.js";
import { observe } from "./observe.js";
import { Opponent } from "./opponent.js";
import { openingOf } from "./settings.js";

const SHARED = ["shipped/", "run/"]; // how the ids of agents begin that links name
const NO_AGENT = "The agent of this link is not here.";
const GONE = "its agent is gone, so another one went on";
const WRONG_LINK = "The link's position is not a position of this game.";

export class Play {
  settings; agents; selection; grades; engine; statistics; onStep; onCounted;
  analysis = null; // or an `Analysis`, in which the person moves both sides
  interrupted = null; // { game, opponent } that an analysis or a shown line interrupts
  demoSide = null; // the side that beats the agent in a shown line
  isOpen = false; // whether a game was opened
  opponent; game;

  // `parts` are { settings, agents, selection, grades, engine, statistics }. `onStep()` is called
  // after each change of the position that is shown, and `onCounted({ envId, moves })` after
  // each game that was counted.
  constructor(parts, { onStep, onCounted }) {
    Object.assign(this, { ...parts, onStep, onCounted });
    this.opponent = this.makeOpponent({ level: "full" });
    this.game = this.makeGame({ players: { x: null, o: null } });
    observe(this, "analysis", "interrupted", "demoSide", "isOpen", "opponent", "game");
    effect(() => this.keepGame());
  }

  makeOpponent(choices) {
    const { engine, grades, agents, selection, settings } = this;
    const parts = { engine, grades, agents, selection, rules: settings.rules };
    const opponent = new Opponent(parts, choices, () => this.noteReplaced(opponent));
    return opponent;
  }

  makeAnalysis() {
    const { engine, settings, agents, selection } = this;
    return new Analysis({ engine, settings, agents, selection, play: this });
  }

  // ---- games that are opened

  // Open a game of these rules: a link's game, the one that this tab left, or a new one.
  open(envId, link = null) {
    this.game.stop();
    batch(() => {
      this.settings.setPage({ game: envId });
      this.selection.snapshot = null;
      this.analysis = null;
      this.interrupted = null; // may be of another game
      this.isOpen = true;
      this.openLeft(envId, link);
      if (this.game.moves.length > 0 || this.analysis) this.leaveInvitation();
    });
  }

  openLeft(envId, link) {
    const left = readTab(`game.${envId}`);
    const isLeft = left && (!link || left.hash === toHash(link));
    const isOpened = (isLeft && this.resume(left)) || (link && this.openLink(link));
    const { isInviting } = this.settings;
    const isUnbegun = isInviting && this.game.moves.length === 0 && !this.analysis;
    if (!isOpened || this.isReplaceable || isUnbegun) this.newGame();
    if (link === null) return;
    const isWrong = !isOpened && (link.moves.length > 0 || link.start);
    if (isWrong) say(WRONG_LINK);
    else if (link.agent !== null && !this.selection.has(link.agent)) say(NO_AGENT);
  }

  // The position where a game begins: a text's, or the empty board. Null if wrong.
  startOf(text) {
    const { rules } = this.settings;
    if (!text) return rules.start;
    if (typeof text !== "string") return null;
    return rules.fromKey(text).position ?? null;
  }

  // Continue a game that a tab left. Returns false if `left` is not one.
  resume(left) {
    const { agents, settings, selection } = this;
    const { rules } = settings;
    const { moves, start, opponent, side, original, notCounted, isCounted, isAnalysis } = left;
    if (!Array.isArray(moves) || !SIDES.includes(side) || !isLevel(opponent?.level)) return false;
    const position = this.startOf(start);
    if (position === null || rules.positions(moves, position) === null) return false;
    this.analysis = isAnalysis ? this.makeAnalysis() : null;
    // The choice of an agent in training is not kept, since the next one is another.
    if (agents.get(opponent.agent)?.source === "live") settings.choose({ agent: opponent.agent });
    const { agent: id, update = null } = opponent;
    if (id === selection.agent?.id && update !== null) selection.snapshot = { id, update };
    const options = { start: position, moves, original, notCounted, isCounted };
    this.begin({ side, opponent: this.makeOpponent(opponent), ...options });
    return true;
  }

  // Show the position of a link. A game that is begun by a link is not counted.
  openLink(link) {
    const position = this.startOf(link.start);
    const { rules } = this.settings;
    if (position === null || rules.positions(link.moves, position) === null) return false;
    this.chooseAsLinked(link);
    if (link.level === "analysis") this.analysis = this.makeAnalysis();
    else if (!link.moves.length && !link.start) return false; // a new game, which counts
    const options = { start: position, moves: link.moves };
    const notCounted = "it was begun by a link";
    const side = link.side ?? "x";
    const opponent = this.makeOpponent(this.selection.opponent);
    this.begin({ side, opponent, notCounted, ...options });
    return true;
  }

  // Take over the choices of a link. An analysis has neither a side nor a level.
  chooseAsLinked({ side, level, agent, update }) {
    const { selection } = this;
    const choices = {};
    if (side !== null && level !== "analysis") choices.side = side;
    if (isLevel(level)) choices.level = level;
    if (selection.has(agent)) choices.agent = agent;
    this.settings.choose(choices);
    selection.snapshot = update === null ? null : { id: agent, update };
  }

  // Begin a game; in an analysis, the person moves both sides.
  begin({ side, opponent, start = this.settings.rules.start, moves = [], ...line }) {
    this.game.stop();
    const players = this.analysis?.players ?? { [side]: null, [other(side)]: opponent.player };
    const game = this.makeGame({ players, start, moves });
    const { at = moves.length, original = null, notCounted = null, isCounted = false } = line;
    Object.assign(game, { original, notCounted, isCounted, at });
    batch(() => {
      Object.assign(this, { game, opponent, demoSide: null });
      if (!this.analysis) {
        this.interrupted = null;
        opponent.side = other(side);
      }
    });
    if (!this.analysis) opponent.load().catch(() => {}); // its player says what is wrong
    game.proceed({ started: true });
  }

  makeGame({ players, start = this.settings.rules.start, moves = [] }) {
    const stepped = ({ ended }) => {
      if (game !== this.game) return;
      if (ended) this.ended(game);
      this.onStep();
    };
    const game = new Game({ rules: this.settings.rules, players, stepped, start, moves });
    return game;
  }

  newGame() {
    if (this.analysis) {
      this.beginAnalysis(this.settings.rules.start);
      return;
    }
    // On the first screen, a move on the board begins the game.
    const chosen = this.settings.isInviting ? "x" : this.selection.choices.side;
    const side = chosen === "random" ? SIDES[Math.floor(2 * Math.random())] : chosen;
    this.begin({ side, opponent: this.makeOpponent(this.selection.opponent) });
  }

  // Let an opponent that has learned play the game at its best, unless the game has begun.
  renewOpponent(agent) {
    const { analysis, game, opponent } = this;
    const isLatest = opponent.agent === agent && opponent.update === null;
    if (isLatest && !analysis && !game.hasBegun && !game.waiting) opponent.renew();
  }

  // Another agent goes on in place of the opponent's, which is gone since a tab left the game.
  noteReplaced(opponent) {
    if (opponent !== this.opponent || this.analysis) return;
    const { game } = this;
    if (game.hasBegun && !game.isOver) game.notCounted ??= GONE;
  }

  // An agent is gone, which is called `name` from now on. A game against it goes on with what
  // was loaded; a game that has not begun is against the selected agent.
  letGo(agent, name) {
    for (const opponent of [this.opponent, this.interrupted?.opponent]) {
      if (opponent?.agent === agent) opponent.name = name;
    }
    const { analysis, game, opponent } = this;
    const isFree = !analysis && !game.isDemo && (!game.hasBegun || game.isOver);
    if (isFree && opponent.agent === agent) this.newGame();
  }

  // Begin a game by the button or the key. After a line that beats the agent, the person
  // tries it against the same agent.
  startNewGame() {
    const { demoSide, game, settings } = this;
    this.leaveInvitation();
    if (game.isDemo) settings.choose({ side: demoSide, level: "full", depth: 0 });
    this.newGame();
  }

  // The level that is offered after a counted game that the person won: { level, name }, or
  // null.
  get nextLevel() {
    const { game, opponent } = this;
    return game.isCounted && game.result === "won" ? opponent.nextLevel : null;
  }

  playNextLevel() {
    this.settings.choose({ level: this.nextLevel.level });
    this.newGame();
  }

  // Begin a game against the selected agent at a level; `side` is the person's, null for the
  // chosen one.
  playAt(level, side = null) {
    this.settings.choose({ level, depth: 0, ...(side !== null && { side }) });
    this.leaveInvitation();
    this.newGame();
    reveal();
  }

  // Play against the selected agent at its best.
  playSelected() {
    this.analysis = null;
    this.settings.choose({ level: "full" });
    this.newGame();
    reveal();
  }

  // ---- the game on the board

  // A click on the board.
  act(action) {
    if (this.analysis?.setup) {
      this.analysis.setup.act(action);
      return;
    }
    this.game.play(action);
    this.leaveInvitation();
  }

  // Show the position after this many moves of the game.
  show(count) {
    this.game.goTo(count);
    reveal();
  }

  // Count a finished game of the person, once.
  ended(game) {
    if (this.analysis?.isMatch) this.analysis.stop();
    if (game.side === null || game.notCounted || game.isCounted) return;
    game.isCounted = true;
    const { envId } = this.settings.rules;
    const { level, countedTitle: title } = this.opponent;
    const { side, result, moves } = game;
    const opponent = { level, title };
    this.statistics.record({ env_id: envId, opponent, side, result, moves });
    this.onCounted({ envId, moves });
  }

  // The fields of the game in the address, as `toHash` takes them; null while there is none, or a
  // line of play is shown.
  get address() {
    return this.isOpen && !this.game.isDemo ? this.linkFields(this.game.moves) : null;
  }

  // Remember the game for a reload of this tab.
  keepGame() {
    const { address, game } = this;
    if (address === null) return;
    const { moves, original, notCounted, isCounted } = game;
    const { envId, start, side } = address;
    const line = { moves, start, original, notCounted, isCounted };
    const isAnalysis = this.analysis !== null;
    const opponent = this.namedOpponent;
    writeTab(`game.${envId}`, { ...line, hash: toHash(address), side, isAnalysis, opponent });
  }

  // The opponent that the address names: in an analysis, the selected agent, whose values are
  // shown.
  get namedOpponent() {
    return this.analysis ? this.selection.opponent : this.opponent.choices;
  }

  // The fields of a link to the first moves of the game on the board, as `toHash` takes them.
  linkFields(moves) {
    const { rules, start, side } = this.game;
    const { agent, update, level } = this.namedOpponent;
    // Others have no agent of this browser.
    const isShared = SHARED.some((source) => agent?.startsWith(source));
    return {
      envId: rules.envId,
      moves,
      start: start === rules.start ? null : rules.key(start),
      side: side ?? "x",
      level: this.analysis ? "analysis" : level,
      agent: isShared ? agent : null,
      update: isShared ? update : null,
    };
  }

  // The address of the position that is shown.
  get link() {
    const { moves, at } = this.game;
    const fields = { ...this.linkFields(moves.slice(0, at)), tab: this.settings.panel };
    return location.href.split("#")[0] + toHash(fields);
  }

  // ---- choices for the next game

  // Choose a level, side, agent or depth of search. A new game begins at once, unless one
  // would be lost by it.
  choose(choices) {
    this.settings.choose(choices);
    if ("agent" in choices) this.selection.snapshot = null;
    if (!this.analysis && !this.isUnderWay) this.newGame();
  }

  // Select an agent as it was at an update; null is its latest.
  select(id, update = null) {
    const { analysis, game } = this;
    batch(() => this.selection.select(id, update));
    if (!analysis && !game.isDemo && !game.hasBegun) this.newGame();
  }

  // Whether the chosen side or opponent differs from the game's.
  get isOtherChosen() {
    const { game, opponent } = this;
    const { choices, agent, update } = this.selection;
    const isOtherSide = choices.side !== "random" && choices.side !== game.side;
    // Before the list of agents is there, the opponent's own agent counts as the chosen one.
    const chosen = agent ? { agent: agent.id, update } : opponent;
    return isOtherSide || !opponent.matches(choices, chosen.agent, chosen.update);
  }

  // Whether a game or a shown line would be lost by a new game.
  get isUnderWay() {
    const { game } = this;
    return game.isDemo || (game.hasBegun && !game.isOver);
  }

  // Whether a choice holds from the next game on only.
  get isChoicePending() {
    const { game } = this;
    return game.side !== null && game.hasBegun && !game.isOver && this.isOtherChosen;
  }

  // Whether the person has not moved yet, and has chosen another side or opponent meanwhile:
  // a new game loses nothing, and this one would not be what is selected.
  get isReplaceable() {
    const { game } = this;
    return game.side !== null && !game.hasBegun && !game.isOver && this.isOtherChosen;
  }

  // ---- the first screen

  // Open a part of a tab, in place of the first screen or of another part. The game of the first
  // screen is X's: where the person chose another one, that begins.
  openPanel(panel) {
    const { isInviting } = this.settings;
    this.settings.panel = panel;
    if (isInviting && this.isReplaceable) this.newGame();
  }

  // Show the tab "Game" in place of the first screen.
  leaveInvitation() {
    if (this.settings.isInviting) this.openPanel(openingOf("game"));
  }

  // ---- what interrupts a game

  // Show a line of play; `side` is the agent's, which loses.
  demonstrate(line, side) {
    this.interrupt();
    const game = this.makeGame({ players: { x: null, o: null }, moves: line });
    batch(() => {
      game.isDemo = true;
      Object.assign(this, { analysis: null, game, demoSide: other(side) });
    });
    reveal();
    game.demonstrate();
  }

  // Remember the person's game before something else is shown.
  interrupt() {
    const { game, opponent, analysis } = this;
    game.stop();
    if (!analysis && !game.isDemo && game.moves.length) this.interrupted = { game, opponent };
  }

  // Go on with the game that an analysis or a shown line interrupted.
  goBack() {
    const { game, opponent } = this.interrupted;
    this.game.stop();
    batch(() => {
      Object.assign(this, { analysis: null, interrupted: null, demoSide: null, game, opponent });
    });
    if (this.isReplaceable) this.newGame();
    else game.proceed({ started: true });
  }

  // Play, or analyse the game on the board.
  setMode(mode) {
    if ((mode === "analysis") === (this.analysis !== null)) return;
    if (mode === "play") {
      this.analysis.stop();
      this.analysis = null;
      if (this.interrupted) this.goBack();
      else this.newGame();
      return;
    }
    this.interrupt();
    const { start, moves, at } = this.game;
    this.beginAnalysis(start, moves, at);
  }

  beginAnalysis(start, moves = [], at = moves.length) {
    this.analysis?.stop();
    this.analysis ??= this.makeAnalysis();
    this.analysis.setup = null;
    const notCounted = "it is an analysis";
    this.begin({ side: "x", opponent: this.opponent, start, moves, at, notCounted });
  }
}
