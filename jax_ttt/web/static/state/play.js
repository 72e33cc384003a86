// What is played: the game on the board, its opponent, and an analysis or a shown line of
// play, which interrupt a game.

import { SIDES, other } from "../engine/rules.js";
import { readTab, writeTab } from "../files/storage.js";
import { Analysis } from "./analysis.js";
import { Game } from "./game.js";
import { isLevel } from "./levels.js";
import { toHash } from "./links.js";
import { announce, say } from "./messages.js";
import { Opponent } from "./opponent.js";
import { spokenStatus, statusOf } from "./status.js";

const SHARED = ["shipped/", "run/"]; // how the ids of agents begin that links name
const NO_AGENT = "The agent of this link is not here.";
const GONE = "its agent is gone, so another one went on";
const WRONG_LINK = "The link's position is not a position of this game.";

export class Play {
  constructor(app) {
    this.app = app;
    this.analysis = null; // or an `Analysis`, in which the person moves both sides
    this.interrupted = null; // { game, opponent } that an analysis or a shown line interrupts
    this.demoSide = null; // the side that beats the agent in a shown line
    this.moved = false; // whether the latest stone was set just now
    this.address = null; // the fields of the game in the address, as `toHash` takes them
    this.opponent = new Opponent(app, { level: "full" });
    this.game = this.makeGame({ players: { x: null, o: null } });
  }

  // ---- games that are opened

  // Open a game of the page's rules: a link's game, the one that this tab left, or a new one.
  open(link) {
    this.analysis = null;
    this.interrupted = null; // may be of another game
    const left = readTab(`game.${this.app.rules.envId}`);
    const isLeft = left && (!link || left.hash === toHash(link));
    const isOpened = (isLeft && this.resume(left)) || (link && this.openLink(link));
    const isUnbegun = this.app.isInviting && this.game.moves.length === 0 && !this.analysis;
    if (!isOpened || this.isReplaceable || isUnbegun) this.newGame();
    if (link === null) return;
    const isWrong = !isOpened && (link.moves.length > 0 || link.start);
    if (isWrong) say(WRONG_LINK);
    else if (link.agent !== null && !this.app.selection.has(link.agent)) say(NO_AGENT);
  }

  // The position where a game begins: a text's, or the empty board. Null if wrong.
  startOf(text) {
    const { rules } = this.app;
    if (!text) return rules.start;
    if (typeof text !== "string") return null;
    return rules.fromKey(text).position ?? null;
  }

  // Continue a game that a tab left. Returns false if `left` is not one.
  resume(left) {
    const { rules, agents, settings, selection } = this.app;
    const { moves, start, opponent, side, original, notCounted, isCounted, isAnalysis } = left;
    if (!Array.isArray(moves) || !SIDES.includes(side) || !isLevel(opponent?.level)) return false;
    const position = this.startOf(start);
    if (position === null || rules.positions(moves, position) === null) return false;
    this.analysis = isAnalysis ? new Analysis(this.app) : null;
    // The choice of an agent in training is not kept, since the next one is another.
    if (agents.get(opponent.agent)?.source === "live") {
      settings.choose(rules.envId, { agent: opponent.agent });
    }
    if (opponent.agent === selection.agent?.id) selection.update = opponent.update ?? null;
    const options = { start: position, moves, original, notCounted, isCounted };
    this.begin({ side, opponent: new Opponent(this.app, opponent), ...options });
    return true;
  }

  // Show the position of a link. A game that is begun by a link is not counted.
  openLink(link) {
    const position = this.startOf(link.start);
    if (position === null || this.app.rules.positions(link.moves, position) === null) return false;
    const { selection } = this.app;
    selection.chooseAsLinked(link);
    if (link.level === "analysis") this.analysis = new Analysis(this.app);
    else if (!link.moves.length && !link.start) return false; // a new game, which counts
    const options = { start: position, moves: link.moves };
    const notCounted = "it was begun by a link";
    const side = link.side ?? "x";
    this.begin({ side, opponent: this.nextOpponent(), notCounted, ...options });
    return true;
  }

  // Begin a game; in an analysis, the person moves both sides.
  begin({ side, opponent, start = this.app.rules.start, moves = [], ...line }) {
    this.game.stop();
    const players = this.analysis?.players ?? { [side]: null, [other(side)]: opponent.player };
    const game = this.makeGame({ players, start, moves });
    const { at = moves.length, original = null, notCounted = null, isCounted = false } = line;
    Object.assign(game, { original, notCounted, isCounted, at });
    this.game = game;
    this.opponent = opponent;
    this.demoSide = null;
    this.app.shown.hint = null;
    if (!this.analysis) {
      this.interrupted = null;
      opponent.side = other(side);
      opponent.load().catch(() => {}); // its player says what is wrong
    }
    game.proceed({ started: true });
  }

  makeGame({ players, start = this.app.rules.start, moves = [] }) {
    const changed = (detail) => this.gameChanged(game, detail);
    const game = new Game({ rules: this.app.rules, players, changed, start, moves });
    return game;
  }

  // An opponent of the current choices.
  nextOpponent() {
    const { choices, agent, update, title } = this.app.selection;
    const { level, depth } = choices;
    return new Opponent(this.app, { level, agent: agent?.id, update, depth, name: title });
  }

  newGame() {
    if (this.analysis) {
      this.beginAnalysis(this.app.rules.start);
      return;
    }
    // On the first screen, a move on the board begins the game.
    const chosen = this.app.isInviting ? "x" : this.app.selection.choices.side;
    const side = chosen === "random" ? SIDES[Math.floor(2 * Math.random())] : chosen;
    this.begin({ side, opponent: this.nextOpponent() });
  }

  // Let an opponent that has learned play the game at its best, unless the game has begun.
  renewOpponent(agent) {
    const { analysis, game, opponent } = this;
    const isLatest = opponent.agent === agent && opponent.update === null;
    if (isLatest && !analysis && !game.hasBegun && !game.waiting) opponent.renew();
  }

  // Another agent goes on in place of the opponent's, which is gone since a tab left the game.
  replaceOpponent(opponent) {
    const { agent, update } = this.app.selection;
    Object.assign(opponent, { agent: agent.id, update });
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
    this.app.changed();
  }

  // Begin a game by the button or the key. After a line that beats the agent, the person
  // tries it against the same agent.
  startNewGame() {
    const { settings, rules } = this.app;
    this.app.leaveInvitation();
    if (this.game.isDemo) {
      settings.choose(rules.envId, { side: this.demoSide, level: "full", depth: 0 });
    }
    this.newGame();
  }

  // The level that is offered after a counted game that the person won: { level, name }, or
  // null.
  get nextLevel() {
    const { game, opponent } = this;
    return game.isCounted && game.result === "won" ? opponent.nextLevel : null;
  }

  playNextLevel() {
    const { settings, rules } = this.app;
    settings.choose(rules.envId, { level: this.nextLevel.level });
    this.newGame();
  }

  // Begin a game against the selected agent at a level; `side` is the person's, null for the
  // chosen one.
  playAt(level, side = null) {
    const { app } = this;
    const choices = { level, depth: 0, ...(side !== null && { side }) };
    app.settings.choose(app.rules.envId, choices);
    app.leaveInvitation();
    this.newGame();
    app.reveal();
  }

  // Play against the selected agent at its best.
  playSelected() {
    const { settings, rules } = this.app;
    this.analysis = null;
    settings.choose(rules.envId, { level: "full" });
    this.newGame();
    this.app.reveal();
  }

  // ---- the game on the board

  // A click on the board.
  act(action) {
    if (this.analysis?.setup) {
      this.analysis.setup.act(action);
      this.app.changed();
      return;
    }
    this.game.play(action);
    this.app.leaveInvitation();
  }

  // Show the position after this many moves of the game.
  show(count) {
    this.game.goTo(count);
    this.app.reveal();
  }

  gameChanged(game, detail) {
    if (game !== this.game) return;
    this.moved = Boolean(detail.moved);
    if (detail.ended) this.ended(game);
    if (!game.isDemo) this.keepGame(game);
    this.app.changed();
    if (detail.moved || detail.stepped || detail.started || detail.undone) {
      announce(spokenStatus(this.app, statusOf(this.app)));
    }
  }

  // Count a finished game of the person, once, and let the agent in training learn it.
  ended(game) {
    if (this.analysis?.isMatch) this.analysis.stop();
    if (game.side === null || game.notCounted || game.isCounted) return;
    game.isCounted = true;
    const { statistics, training, rules } = this.app;
    const { level, countedTitle: title } = this.opponent;
    const { side, result, moves } = game;
    statistics.record({ env_id: rules.envId, opponent: { level, title }, side, result, moves });
    training.learnFrom({ envId: rules.envId, moves });
  }

  // Show the agent of the game in the address, once it is known.
  opponentLoaded(opponent) {
    if (opponent === this.opponent && !this.game.isDemo) this.keepGame(this.game);
  }

  // Remember the game for a reload of this tab, and show its link as the address.
  keepGame(game) {
    const { moves, original, notCounted, isCounted } = game;
    this.address = this.linkFields(moves);
    const { envId, start, side } = this.address;
    const hash = toHash(this.address);
    const line = { moves, start, original, notCounted, isCounted };
    const isAnalysis = this.analysis !== null;
    const opponent = this.namedOpponent.choices;
    writeTab(`game.${envId}`, { ...line, hash, side, isAnalysis, opponent });
    this.app.showAddress();
  }

  // The opponent that the address names: in an analysis, the selected agent, whose values are
  // shown.
  get namedOpponent() {
    return this.analysis ? this.nextOpponent() : this.opponent;
  }

  // The fields of a link to the first moves of the game on the board, as `toHash` takes them.
  linkFields(moves) {
    const { rules } = this.app;
    const { start, side } = this.game;
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
    const fields = { ...this.linkFields(moves.slice(0, at)), tab: this.app.settings.panel };
    return location.href.split("#")[0] + toHash(fields);
  }

  // ---- choices for the next game

  // Whether the chosen side or opponent differs from the game's.
  get isOtherChosen() {
    const { game, opponent } = this;
    const { choices, agent, update } = this.app.selection;
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

  // ---- what interrupts a game

  // Show a line of play; `side` is the agent's, which loses.
  demonstrate(line, side) {
    this.interrupt();
    this.analysis = null;
    this.game = this.makeGame({ players: { x: null, o: null }, moves: line });
    this.demoSide = other(side);
    this.app.reveal();
    this.game.demonstrate();
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
    this.analysis = null;
    this.interrupted = null;
    this.game.stop();
    this.demoSide = null;
    this.game = game;
    this.opponent = opponent;
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
    this.analysis ??= new Analysis(this.app);
    this.analysis.setup = null;
    const notCounted = "it is an analysis";
    this.begin({ side: "x", opponent: this.opponent, start, moves, at, notCounted });
  }
}
