// The page's state, and what happens when the person chooses something. All panels show
// an `App`, and the page is rendered again after each change of it.

import { Agents } from "./agents.js";
import { Setup } from "./analysis.js";
import { Engine } from "./engine.js";
import { Game } from "./game.js";
import {
  LEVELS,
  agentPlayer,
  isSolved,
  levelName,
  levelPlayer,
  levelsOf,
  perfectPlayer,
} from "./levels.js";
import { Looks } from "./looks.js";
import { Review, markOf } from "./review.js";
import { Rules, SIDES, other } from "./rules.js";
import { Settings } from "./settings.js";
import { fromHash, toHash } from "./share.js";
import { Statistics } from "./statistics.js";
import { spokenStatus, statusOf } from "./status.js";
import { readTab, writeTab } from "./storage.js";
import { Training } from "./training.js";
import { announce, say, signed } from "./ui.js";

const GAMES = ["tic_tac_toe", "connect_5x4", "connect_7x6"]; // offered without any run
const PERFECT = "perfect"; // perfect play, among the players of a match

export class App {
  // `render()` draws the page, `reveal()` brings the board into view.
  constructor({ source, render, reveal }) {
    Object.assign(this, { source, render, reveal });
    const changed = () => this.changed();
    this.engine = new Engine(() => source.tree());
    this.agents = new Agents(source, changed);
    this.looks = new Looks({ engine: this.engine, changed });
    this.review = new Review({ engine: this.engine, changed: () => this.judged() });
    this.settings = new Settings();
    this.statistics = new Statistics(this.agents, changed);
    this.training = new Training(this);
    this.rules = new Rules(GAMES[0]);
    this.game = new Game({ rules: this.rules, players: { x: null, o: null }, changed });
    this.opponent = { level: "full", agent: null, update: null, title: "" };
    this.analysis = null; // see `newAnalysis`; null while the person plays
    this.demoSide = null; // the side that beats the agent in a line that is shown
    this.update = null; // of the selected agent; null: the latest
    this.loaded = null; // the selected agent's file, once it is there
    this.isChoicePending = false; // whether a choice holds from the next game on only
    this.hint = null; // { key, action, reason }
    this.announced = null; // the position after a mistake that screen readers heard
    this.moved = false; // whether the latest stone was set just now
    this.changing = false;
  }

  // Render the page once, after all changes of this moment.
  changed() {
    if (this.changing) return;
    this.changing = true;
    queueMicrotask(() => {
      this.changing = false;
      this.render();
    });
  }

  async start() {
    const link = fromHash(location.hash);
    await this.agents.refresh().catch((error) => say(error.message));
    const envId = link?.envId ?? this.settings.page.game;
    this.openGame(Rules.knows(envId) ? envId : GAMES[0], link);
    this.training.listen();
    this.agents.prefetch();
  }

  // ---- the game that is played

  // The games that the page offers: its own, those of the agents, and the open one.
  games() {
    const envIds = [...GAMES, ...this.agents.list.map((entry) => entry.env_id), this.rules.envId];
    return [...new Set(envIds)]
      .filter((envId) => Rules.knows(envId))
      .map((envId) => new Rules(envId));
  }

  get choices() {
    const choices = this.settings.of(this.rules.envId);
    const level = levelsOf(this.rules).includes(choices.level) ? choices.level : "full";
    return { ...choices, level };
  }

  // Open another game: the one of a link, the one that this tab left, or a new one.
  openGame(envId, link = null) {
    this.game.stop();
    if (envId !== this.rules.envId) this.rules = new Rules(envId);
    this.settings.setPage({ game: envId });
    this.update = null;
    this.isChoicePending = false;
    this.analysis = null;
    const left = readTab(`game.${envId}`);
    const isLeft = left && (!link || link.moves.join() === left.moves.join());
    const opened = (isLeft && this.resume(left)) || (link && this.openLink(link));
    if (!opened) {
      this.newGame();
      if (link && (link.moves.length || link.start))
        say("The link holds no position of this game.");
    }
    this.load();
  }

  // The position where a game begins: that of a text, or the empty board. Null if wrong.
  startOf(text) {
    if (!text) return this.rules.start;
    return this.rules.fromKey(text).position ?? null;
  }

  // Go on with a game of this tab, after a reload or another game.
  resume({ moves, start, opponent, side, original, notCounted, isCounted, isAnalysis }) {
    const position = this.startOf(start);
    if (position === null || this.rules.positions(moves, position) === null) return false;
    if (isAnalysis) this.analysis = this.newAnalysis();
    const players = isAnalysis ? { x: null, o: null } : this.playersFor(side, opponent);
    const game = this.makeGame({ players, start: position, moves });
    this.begin(game, opponent, { original, notCounted, isCounted });
    return true;
  }

  // Show the position of a link. A game that is begun by a link is not counted.
  openLink(link) {
    const position = this.startOf(link.start);
    if (position === null || this.rules.positions(link.moves, position) === null) return false;
    if (!link.moves.length && !link.start) return false;
    if (link.level === "analysis") {
      this.analysis = this.newAnalysis();
    } else {
      this.settings.choose(this.rules.envId, {
        side: link.side,
        ...(link.level in LEVELS ? { level: link.level } : {}),
        ...(this.agents.get(link.agent) ? { agent: link.agent } : {}),
      });
      if (this.agents.get(link.agent)) this.update = link.update;
    }
    const opponent = this.nextOpponent();
    const players = this.analysis ? { x: null, o: null } : this.playersFor(link.side, opponent);
    const game = this.makeGame({ players, start: position, moves: link.moves });
    this.begin(game, opponent, { notCounted: "it was begun by a link" });
    return true;
  }

  makeGame({ players, start = this.rules.start, moves = [] }) {
    const changed = (detail) => this.gameChanged(game, detail);
    const game = new Game({ rules: this.rules, players, changed, start, moves });
    return game;
  }

  begin(game, opponent, { original = null, notCounted = null, isCounted = false } = {}) {
    this.game.stop();
    Object.assign(game, { original, notCounted, isCounted });
    this.game = game;
    this.opponent = opponent;
    this.demoSide = null;
    this.hint = null;
    this.isChoicePending = false;
    game.proceed({ started: true });
  }

  // The opponent as it is chosen: { level, agent, update, title }.
  nextOpponent() {
    const { level, depth } = this.choices;
    const entry = this.agent;
    const name = levelName(level, this.loaded, depth);
    const title = level === PERFECT ? name : `${name}: ${this.agentTitle(entry, this.update)}`;
    return { level, agent: entry?.id ?? null, update: this.update, title };
  }

  agentTitle(entry, update) {
    if (!entry) return "no agent";
    return update === null ? entry.title : `${entry.title} at update ${update}`;
  }

  // The players of a game of the person against an opponent.
  playersFor(side, { level, agent, update }) {
    const load = () => this.agents.load(agent, update);
    const player = levelPlayer(level, { ...this.mind(load), depth: this.choices.depth });
    return { [side]: null, [other(side)]: player };
  }

  mind(load) {
    return { engine: this.engine, rules: this.rules, load };
  }

  newGame() {
    if (this.analysis) {
      this.beginAnalysis(this.rules.start);
      return;
    }
    const chosen = this.choices.side;
    const side = chosen === "random" ? SIDES[Math.floor(2 * Math.random())] : chosen;
    const opponent = this.nextOpponent();
    this.begin(this.makeGame({ players: this.playersFor(side, opponent) }), opponent);
  }

  gameChanged(game, detail) {
    if (game !== this.game) return;
    this.moved = Boolean(detail.moved);
    if (detail.ended) this.ended(game);
    if (!game.isDemo) this.keepGame(game);
    this.changed();
    if (detail.moved || detail.stepped || detail.started || detail.undone) {
      announce(spokenStatus(this, statusOf(this)));
    }
  }

  // Count a finished game of the person, once, and let the agent in training learn it.
  ended(game) {
    if (game.side === null || game.notCounted || game.isCounted) return;
    game.isCounted = true;
    const { envId } = this.rules;
    const { level, title } = this.opponent;
    const { side, result, moves } = game;
    this.statistics.record({ env_id: envId, opponent: { level, title }, side, result, moves });
    this.training.learnFrom({ envId, moves });
  }

  // Remember the game for a reload of this tab, and show its link as the address.
  keepGame(game) {
    const { envId } = this.rules;
    const start = game.start === this.rules.start ? null : this.rules.key(game.start);
    const { moves, original, notCounted, isCounted } = game;
    const side = game.side ?? "x";
    const isAnalysis = this.analysis !== null;
    const { opponent } = this;
    const line = { moves, start, original, notCounted, isCounted };
    writeTab(`game.${envId}`, { ...line, opponent, side, isAnalysis });
    const level = isAnalysis ? "analysis" : opponent.level;
    const { agent, update } = opponent;
    const hash = toHash({ envId, moves, start, side, level, agent, update });
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  // ---- choices

  // Choose a level, side, agent or depth of search. A new game begins at once, unless one
  // would be lost by it.
  choose(choices) {
    this.settings.choose(this.rules.envId, choices);
    if ("agent" in choices) this.update = null;
    if ("depth" in choices) this.remakePlayers();
    else if (this.game.hasBegun && !this.game.isOver && !this.analysis) this.isChoicePending = true;
    else if (!this.analysis) this.newGame();
    this.load();
    this.changed();
  }

  // A depth of search holds at once; values and moves come from the same search.
  remakePlayers() {
    const { game } = this;
    if (this.analysis || game.side === null) return;
    game.players = this.playersFor(game.side, this.opponent);
  }

  // The selected agent of this game, or null if there is none.
  get agent() {
    const entries = this.agents.for(this.rules.envId);
    return entries.find(({ id }) => id === this.choices.agent) ?? entries[0] ?? null;
  }

  // Select an agent as it was at an update; null is its latest.
  select(id, update = null) {
    this.settings.choose(this.rules.envId, { agent: id });
    this.update = update;
    this.load();
    this.changed();
  }

  // Go on with another file of the same agent, for instance with the kept one.
  replaceAgent(id, other) {
    if (this.agent?.id === id) this.select(other);
    if (this.opponent.agent !== id) return;
    this.opponent = { ...this.opponent, agent: other };
    this.remakePlayers();
  }

  // Load the selected agent's file, for its values and its proof.
  async load() {
    const { agent, update } = this;
    if (this.loaded?.id !== agent?.id || this.loaded?.update !== update) this.loaded = null;
    if (!agent) return;
    try {
      const loaded = await this.agents.load(agent.id, update);
      if (agent.id !== this.agent?.id || update !== this.update) return;
      this.loaded = loaded;
      const isFirst = this.opponent.agent === agent.id && !this.game.hasBegun;
      if (isFirst && !this.game.isDemo) this.opponent = this.nextOpponent();
    } catch (error) {
      say(error.message);
    }
    this.changed();
  }

  // Play against the selected agent at its best.
  playSelected() {
    this.analysis = null;
    this.settings.choose(this.rules.envId, { level: "full" });
    this.newGame();
    this.reveal();
  }

  // Show a line of play; `side` is the agent's, which loses.
  demonstrate(line, side) {
    this.game.stop();
    this.analysis = null;
    const game = this.makeGame({ players: { x: null, o: null }, moves: line });
    this.game = game;
    this.demoSide = other(side);
    this.reveal();
    game.demonstrate();
  }

  // Show the position after this many moves of the game.
  show(count) {
    this.game.goTo(count);
    this.reveal();
  }

  openPanel(panel) {
    this.settings.setPage({ panel });
    this.changed();
  }

  // ---- what the board shows

  // The layers that are shown; an analysis has choices of its own.
  get layers() {
    return this.analysis?.layers ?? this.settings.layers;
  }

  showLayer(layer, isShown) {
    if (!this.analysis) this.settings.setLayer(layer, isShown);
    else if (isShown) this.analysis.layers.add(layer);
    else this.analysis.layers.delete(layer);
    this.changed();
  }

  // The kinds of learned agents of this game: "network", "table".
  get kinds() {
    const kinds = new Set(this.agents.for(this.rules.envId).map(({ kind }) => kind));
    return ["network", "table"].filter((kind) => kinds.has(kind));
  }

  // The agent whose values of a kind are shown: the selected one, or the first of the kind.
  agentOfKind(kind) {
    if (this.agent?.kind === kind) return { entry: this.agent, loaded: this.loaded };
    const entry = this.agents.for(this.rules.envId).find((one) => one.kind === kind);
    const other = (this.others ??= new Map());
    if (entry && !other.has(entry.id)) {
      other.set(entry.id, null);
      this.agents.load(entry.id).then(
        (loaded) => {
          other.set(entry.id, loaded);
          this.changed();
        },
        () => other.delete(entry.id),
      );
    }
    return { entry, loaded: entry ? other.get(entry.id) : null };
  }

  layersShown() {
    const shown = this.kinds.filter((kind) => this.layers.has(kind));
    const agents = Object.fromEntries(shown.map((kind) => [kind, this.agentOfKind(kind).loaded]));
    const { rules, game } = this;
    const { depth } = this.choices;
    const withExact = this.layers.has("exact");
    return this.looks.layers({ rules, position: game.position, withExact, agents, depth });
  }

  // Whether the moves are compared with best play: at the end, or while that is switched on.
  get isReviewed() {
    return this.layers.has("mistakes") || this.game.isOver || this.analysis !== null;
  }

  // The judgements of the moves; nothing before they are asked for.
  judgements() {
    if (!this.isReviewed || this.game.moves.length === 0) return [];
    return this.review.of(this.game, this.loaded);
  }

  // A judgement has arrived: screen readers hear a mistake of the person's latest move.
  judged() {
    const ply = this.game.side === null ? null : this.game.lastOwn;
    const mark = ply === null ? null : this.marks()[ply];
    const position = mark && this.game.positions[ply + 1];
    if (mark && position !== this.announced) {
      this.announced = position;
      announce(`Your move was a ${mark.text}.`);
    }
    this.changed();
  }

  // The marks of the moves, null for a move without one. In a line that beats the agent,
  // only the agent's mistakes are of interest.
  marks() {
    const { game, rules } = this;
    return this.judgements().map((judged, ply) => {
      const isWinners = game.isDemo && rules.toMove(game.positions[ply]) === this.demoSide;
      return isWinners ? null : markOf(judged, signed);
    });
  }

  // The marks of the stones on the board, by cell.
  markedCells() {
    const { game } = this;
    const marks = this.marks();
    const cells = new Map();
    for (let ply = 0; ply < game.at; ply += 1) {
      if (marks[ply]) cells.set(game.positions[ply + 1].last, marks[ply]);
    }
    return cells;
  }

  // What the board shows, as `Board.set` takes it.
  boardState() {
    const { rules, game, analysis } = this;
    if (analysis?.setup) {
      return { rules, position: analysis.setup.position, playable: true, isSetup: true };
    }
    const { position } = game;
    const isHinted = this.hint?.key === rules.key(position);
    return {
      rules,
      position,
      playable: game.isPersonsTurn,
      moved: this.moved,
      owner: game.side,
      layers: this.layersShown(),
      hint: isHinted ? [this.hint.action] : [],
      hintText: "hint",
      marks: this.markedCells(),
    };
  }

  // A click on the board.
  act(action) {
    if (this.analysis?.setup) {
      this.analysis.setup.act(action);
      this.changed();
    } else this.game.play(action);
  }

  // Show one good move of the position, with its reason.
  async showHint() {
    const { rules, game } = this;
    const { position } = game;
    if (rules.isOver(position)) return;
    try {
      const { action, reason } = await this.looks.hint({ rules, position, agent: this.loaded });
      this.hint = { key: rules.key(position), action, reason };
      announce(`Hint: ${reason}.`);
    } catch (error) {
      say(error.message);
    }
    this.changed();
  }

  get hintReason() {
    const isShown = this.hint?.key === this.rules.key(this.game.position);
    return isShown ? this.hint.reason : null;
  }

  // ---- analysis

  setMode(mode) {
    if ((mode === "analysis") === (this.analysis !== null)) return;
    if (mode === "play") {
      this.analysis = null;
      this.newGame();
      return;
    }
    const { start, moves, at } = this.game;
    this.beginAnalysis(start, moves, at);
  }

  // An analysis: who moves each side in a match ("" is the person), and what is shown.
  newAnalysis() {
    const layers = new Set(["exact", ...this.kinds, ...this.settings.layers]);
    return { players: { x: "", o: "" }, setup: null, layers };
  }

  beginAnalysis(start, moves = [], at = moves.length) {
    this.analysis ??= this.newAnalysis();
    this.analysis.setup = null;
    const game = this.makeGame({ players: { x: null, o: null }, start, moves });
    game.at = at;
    this.begin(game, this.opponent, { notCounted: "it is an analysis" });
  }

  // Who can move a side in a match: [id, title].
  matchPlayers() {
    const agents = this.agents.for(this.rules.envId).map(({ id, title }) => [id, title]);
    return isSolved(this.rules) ? [...agents, [PERFECT, LEVELS[PERFECT].name]] : agents;
  }

  // Let the person (""), perfect play or an agent move a side.
  setPlayer(side, id) {
    this.analysis.players[side] = id;
    this.stopMatch();
    const isMixed = SIDES.some((one) => this.analysis.players[one] === "");
    if (isMixed) this.playMatch();
  }

  // Let the chosen players move from the position that is shown.
  playMatch() {
    const { game, analysis, choices } = this;
    if (!game.isLatest || game.isOver) game.cut(game.isOver && game.isLatest ? 0 : game.at);
    for (const side of SIDES)
      game.players[side] = this.playerOf(analysis.players[side], choices.depth);
    game.proceed({});
  }

  playerOf(id, depth) {
    if (id === "") return null;
    const mind = this.mind(() => this.agents.load(id));
    return id === PERFECT ? perfectPlayer(mind) : agentPlayer({ ...mind, depth });
  }

  stopMatch() {
    this.game.stop();
    this.game.players = { x: null, o: null };
    this.changed();
  }

  beginSetup() {
    this.game.stop();
    this.analysis.setup = new Setup(this.rules, this.game.position);
    this.changed();
  }

  cancelSetup() {
    this.analysis.setup = null;
    this.changed();
  }

  endSetup() {
    const { position } = this.analysis.setup.result();
    if (position) this.beginAnalysis(position);
  }
}
