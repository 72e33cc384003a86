// The page's state, and what each choice of the person changes. All panels show an `App`,
// which renders the page again after each change.

import { Agents } from "./agents.js";
import { Analysis } from "./analysis.js";
import { BoardValues } from "./board_values.js";
import { Engine } from "./engine.js";
import { Game } from "./game.js";
import { checkAgents } from "./grades.js";
import { isLevel, levelsOf } from "./levels.js";
import { Opponent } from "./opponent.js";
import { Review, markOf } from "./review.js";
import { Rules, SIDES, other } from "./rules.js";
import { Settings, TABS } from "./settings.js";
import { fromHash, isTabAlone, tabOf, toHash } from "./share.js";
import { Statistics } from "./statistics.js";
import { spokenStatus, statusOf } from "./status.js";
import { readTab, writeTab } from "./storage.js";
import { Training } from "./training.js";
import { announce, latest, number, say } from "./ui.js";

const NO_GAME = "The page does not have the game of this link.";
const ENTRY = "jax_ttt"; // the state of the history entries that this page has shown
const GAMES = ["tic_tac_toe", "connect_5x4", "connect_7x6"]; // offered without any run

export class App {
  // `render()` draws the page, `reveal()` brings the board into view, `focusBoard()` moves
  // the focus there.
  constructor({ source, render, reveal, focusBoard }) {
    Object.assign(this, { source, render, reveal, focusBoard });
    const changed = () => this.changed();
    this.engine = new Engine(() => source.tree());
    this.agents = new Agents(source, changed);
    this.boardValues = new BoardValues({ engine: this.engine, changed });
    this.review = new Review({ engine: this.engine, changed: () => this.judged() });
    this.settings = new Settings();
    this.statistics = new Statistics(this.agents, changed);
    this.training = new Training(this);
    this.ready = Promise.resolve(); // the list of agents has arrived
    this.rules = new Rules(GAMES[0]);
    this.game = new Game({ rules: this.rules, players: { x: null, o: null }, changed });
    this.opponent = new Opponent(this, { level: "full" });
    this.analysis = null; // or an `Analysis`, in which the person moves both sides
    this.interrupted = null; // { game, opponent } that an analysis or a shown line interrupts
    this.address = null; // the fields of the game in the address, as `toHash` takes them
    this.demoSide = null; // the side that beats the agent in a shown line
    this.update = null; // number of updates of the selected agent; null: the latest
    this.loaded = null; // the selected agent's file, once it is there
    this.others = new Map(); // by id, loaded agents whose values are shown, too
    this.hint = null; // { key, action, reason }
    this.isHinting = false; // whether a hint is being computed
    this.announced = null; // the position after the last mistake that was announced
    this.moved = false; // whether the latest stone was set just now
    this.isChanging = false;
    this.loadSelected = latest(
      () => this.readSelected(),
      (loaded) => {
        this.loaded = loaded;
        this.changed();
      },
    );
  }

  // Render the page once, after all changes of this moment.
  changed() {
    if (this.isChanging) return;
    this.isChanging = true;
    queueMicrotask(() => {
      this.isChanging = false;
      checkAgents(this, this.shownAgents);
      this.render();
    });
  }

  // The loaded agents of which the page says how strong they are.
  get shownAgents() {
    return [this.loaded, this.opponent.loaded].filter((agent) => agent !== null);
  }

  // Open the game of the address, or the last one. A game without a link is there before
  // the list of agents.
  async start() {
    this.ready = this.agents.refresh().catch((error) => say(error.message));
    const { hash } = location;
    const hasLink = hash.length > 1;
    if (hasLink) await this.ready;
    const envId = this.settings.page.game;
    if (!this.openLinkOf(hash)) {
      this.openGame(Rules.knows(envId) ? envId : GAMES[0]);
      if (hasLink && !isTabAlone(hash)) say(NO_GAME);
    }
    this.training.listen();
    await this.ready;
    this.load();
    this.agents.prefetch();
  }

  // ---- the game that is played

  // The games that the page offers: its own, the agents' games, and the open game.
  games() {
    const envIds = [...GAMES, ...this.agents.list.map((entry) => entry.env_id), this.rules.envId];
    return [...new Set(envIds)]
      .filter((envId) => Rules.knows(envId))
      .map((envId) => new Rules(envId));
  }

  get choices() {
    const choices = this.settings.choicesFor(this.rules.envId);
    const level = levelsOf(this.rules).includes(choices.level) ? choices.level : "full";
    return { ...choices, level };
  }

  // Open the game and the tab of an address. Returns whether it names a game.
  openLinkOf(hash) {
    const link = fromHash(hash);
    if (link || isTabAlone(hash)) this.openTabOf(hash);
    if (link) this.openGame(link.envId, link);
    return link !== null;
  }

  openTabOf(hash) {
    const tab = tabOf(hash);
    if (Object.hasOwn(TABS, tab)) this.openPanel(tab);
  }

  // Follow a change of the address. After Back or Forward to another game, that game goes on
  // as it was left; a link shows its position.
  followAddress() {
    const { hash } = location;
    const link = fromHash(hash);
    const isReturn = history.state === ENTRY && link && link.envId !== this.rules.envId;
    if (!isReturn) {
      this.openLinkOf(hash);
      return;
    }
    this.openTabOf(hash);
    this.openGame(link.envId);
  }

  // Open a game by its button. Another game is another entry of the browser's history.
  chooseGame(envId) {
    if (envId !== this.rules.envId) history.pushState(ENTRY, "");
    this.openGame(envId);
  }

  // Open another game: a link's game, the game that this tab left, or a new one.
  openGame(envId, link = null) {
    this.game.stop();
    if (envId !== this.rules.envId) this.rules = new Rules(envId);
    this.settings.setPage({ game: envId });
    this.update = null;
    this.analysis = null;
    const left = readTab(`game.${envId}`);
    const isLeft = left && (!link || left.hash === toHash(link));
    const isOpened = (isLeft && this.resume(left)) || (link && this.openLink(link));
    if (!isOpened || this.isReplaceable) {
      this.newGame();
      const isWrong = !isOpened && link && (link.moves.length > 0 || link.start);
      if (isWrong) say("The link's position is not a position of this game.");
    }
    this.load();
  }

  // The position where a game begins: a text's, or the empty board. Null if wrong.
  startOf(text) {
    if (!text) return this.rules.start;
    if (typeof text !== "string") return null;
    return this.rules.fromKey(text).position ?? null;
  }

  // Continue a game that a tab left. Returns false if `left` is not one.
  resume(left) {
    const { moves, start, opponent, side, original, notCounted, isCounted, isAnalysis } = left;
    if (!Array.isArray(moves) || !SIDES.includes(side) || !isLevel(opponent?.level)) return false;
    const position = this.startOf(start);
    if (position === null || this.rules.positions(moves, position) === null) return false;
    this.analysis = isAnalysis ? new Analysis(this) : null;
    // The choice of an agent in training is not kept, since the next one is another.
    if (this.agents.get(opponent.agent)?.source === "live") {
      this.settings.choose(this.rules.envId, { agent: opponent.agent });
    }
    if (opponent.agent === this.agent?.id) this.update = opponent.update ?? null;
    const options = { start: position, moves, original, notCounted, isCounted };
    this.begin({ side, opponent: new Opponent(this, opponent), ...options });
    return true;
  }

  // Show the position of a link. A game that is begun by a link is not counted.
  openLink(link) {
    const position = this.startOf(link.start);
    if (position === null || this.rules.positions(link.moves, position) === null) return false;
    if (!link.moves.length && !link.start) return false;
    if (link.level === "analysis") this.analysis = new Analysis(this);
    else this.chooseAsLinked(link);
    const options = { start: position, moves: link.moves };
    const notCounted = "it was begun by a link";
    this.begin({ side: link.side, opponent: this.nextOpponent(), notCounted, ...options });
    return true;
  }

  chooseAsLinked({ side, level, agent, update }) {
    const choices = { side };
    if (isLevel(level)) choices.level = level;
    if (this.agents.get(agent)) choices.agent = agent;
    this.settings.choose(this.rules.envId, choices);
    if (this.agents.get(agent)) this.update = update;
  }

  // Begin a game; in an analysis, the person moves both sides.
  begin({ side, opponent, start = this.rules.start, moves = [], at = moves.length, ...line }) {
    this.game.stop();
    const players = this.analysis?.players ?? { [side]: null, [other(side)]: opponent.player };
    const game = this.makeGame({ players, start, moves });
    const { original = null, notCounted = null, isCounted = false } = line;
    Object.assign(game, { original, notCounted, isCounted, at });
    this.game = game;
    this.opponent = opponent;
    this.demoSide = null;
    this.hint = null;
    if (!this.analysis) {
      this.interrupted = null;
      opponent.load().catch(() => {}); // its player says what is wrong
    }
    game.proceed({ started: true });
  }

  makeGame({ players, start = this.rules.start, moves = [] }) {
    const changed = (detail) => this.gameChanged(game, detail);
    const game = new Game({ rules: this.rules, players, changed, start, moves });
    return game;
  }

  // An opponent of the current choices.
  nextOpponent() {
    const { level, depth } = this.choices;
    const { agent, update } = this;
    const name = agent ? this.agentTitle(agent.id, update) : "";
    return new Opponent(this, { level, agent: agent?.id, update, depth, name });
  }

  agentTitle(id, update) {
    const title = this.agents.get(id)?.title ?? "an agent that is gone";
    return update === null ? title : `${title} at update ${number(update)}`;
  }

  newGame() {
    if (this.analysis) {
      this.beginAnalysis(this.rules.start);
      return;
    }
    const chosen = this.choices.side;
    const side = chosen === "random" ? SIDES[Math.floor(2 * Math.random())] : chosen;
    this.begin({ side, opponent: this.nextOpponent() });
  }

  // Begin a game by the button or the key. After a line that beats the agent, the person
  // tries it against the same agent.
  startNewGame() {
    if (this.game.isDemo) {
      const choices = { side: this.demoSide, level: "full", depth: 0 };
      this.settings.choose(this.rules.envId, choices);
    }
    this.newGame();
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

  // Remember the person's game before something else is shown.
  interrupt() {
    const { game, opponent, analysis } = this;
    game.stop();
    if (!analysis && !game.isDemo && game.moves.length) this.interrupted = { game, opponent };
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
    if (this.analysis?.isMatch) this.analysis.stop();
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
    const { opponent } = this;
    const { moves, original, notCounted, isCounted } = game;
    const start = this.startKey(game);
    const side = game.side ?? "x";
    const isAnalysis = this.analysis !== null;
    this.address = this.linkFields(moves);
    const hash = toHash(this.address);
    const line = { moves, start, original, notCounted, isCounted };
    writeTab(`game.${envId}`, { ...line, hash, side, isAnalysis, opponent: opponent.choices });
    this.showAddress();
  }

  // Show the link of the game and the tab as the address. It replaces the one before, so
  // moves and tabs are not entries of the browser's history.
  showAddress() {
    if (this.address === null) return; // no game is open yet
    const hash = toHash({ ...this.address, tab: this.settings.panel });
    const isShown = location.hash === hash && history.state === ENTRY;
    if (!isShown) history.replaceState(ENTRY, "", hash);
  }

  // The text of a position that was set up, where the game began; null for the empty board.
  startKey({ start, rules }) {
    return start === rules.start ? null : rules.key(start);
  }

  // The fields of a link to the first moves of the game on the board, as `toHash` takes them.
  linkFields(moves) {
    const { game, opponent, rules } = this;
    const start = this.startKey(game);
    const level = this.analysis ? "analysis" : opponent.level;
    const { agent, update } = opponent;
    const { envId } = rules;
    return { envId, moves, start, side: game.side ?? "x", level, agent, update };
  }

  // The address of the position that is shown.
  get link() {
    const { moves, at } = this.game;
    const fields = this.linkFields(moves.slice(0, at));
    return location.href.split("#")[0] + toHash({ ...fields, tab: this.settings.panel });
  }

  // ---- choices

  // Choose a level, side, agent or depth of search. A new game begins at once, unless one
  // would be lost by it.
  choose(choices) {
    this.settings.choose(this.rules.envId, choices);
    if ("agent" in choices) this.update = null;
    const { game } = this;
    const isUnderWay = game.isDemo || (game.hasBegun && !game.isOver);
    if (!this.analysis && !isUnderWay) this.newGame();
    this.load();
    this.changed();
  }

  // Whether the chosen side or opponent differs from the game's.
  get isOtherChosen() {
    const { game, choices, opponent } = this;
    const isOtherSide = choices.side !== "random" && choices.side !== game.side;
    // Before the list of agents is there, the opponent's own agent counts as the chosen one.
    const agent = this.agent?.id ?? opponent.agent;
    const update = this.agent ? this.update : opponent.update;
    return isOtherSide || !opponent.matches(choices, agent, update);
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

  // The selected agent of this game, or null if there is none.
  get agent() {
    const entries = this.agents.for(this.rules.envId);
    return entries.find(({ id }) => id === this.choices.agent) ?? entries[0] ?? null;
  }

  // Select an agent as it was at an update; null is its latest.
  select(id, update = null) {
    this.settings.choose(this.rules.envId, { agent: id });
    this.update = update;
    if (!this.analysis && !this.game.isDemo && !this.game.hasBegun) this.newGame();
    this.load();
    this.changed();
  }

  // Go on with another file of the same agent, for instance with the kept one.
  replaceAgent(id, other) {
    if (this.opponent.agent === id) this.opponent.agent = other;
    if (this.agent?.id === id) this.select(other);
  }

  // Load the selected agent's file, for its values and its proof.
  load() {
    const isSame = this.loaded?.id === this.agent?.id && this.loaded?.update === this.update;
    if (!isSame) this.loaded = null;
    return this.loadSelected();
  }

  async readSelected() {
    if (!this.agent) return null;
    try {
      return await this.agents.load(this.agent.id, this.update);
    } catch (error) {
      say(error.message);
      return null;
    }
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
    this.interrupt();
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
    this.showAddress();
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
    const entry = this.agents.for(this.rules.envId).find((agent) => agent.kind === kind);
    if (entry && !this.others.has(entry.id)) this.loadOther(entry.id);
    return { entry, loaded: this.others.get(entry?.id) ?? null };
  }

  // Whether the opponent is an earlier state of the selected agent, which has learned since.
  get isOpponentEarlier() {
    const { opponent, loaded, analysis } = this;
    if (analysis || !loaded || opponent.agent !== loaded.id) return false;
    const isSame = opponent.update === loaded.update;
    return isSame && opponent.loaded !== null && opponent.loaded.key !== loaded.key;
  }

  // Load the selected agent again, which has learned.
  reload(id) {
    this.others.delete(id);
    if (this.agent?.id === id) this.load();
  }

  async loadOther(id) {
    this.others.set(id, null);
    try {
      this.others.set(id, await this.agents.load(id));
      this.changed();
    } catch {
      this.others.delete(id); // it is tried again when the page is rendered next
    }
  }

  layersShown() {
    const shown = this.kinds.filter((kind) => this.layers.has(kind));
    const agents = Object.fromEntries(shown.map((kind) => [kind, this.agentOfKind(kind).loaded]));
    const { rules, game } = this;
    const depth = this.analysis ? this.choices.depth : this.opponent.depth;
    const withExact = this.layers.has("exact");
    return this.boardValues.layers({ rules, position: game.position, withExact, agents, depth });
  }

  // See `BoardValues.exactState`.
  get exactState() {
    return this.boardValues.exactState(this.rules, this.game.position);
  }

  // Whether the moves are compared with best play: at the end of a game, in an analysis, or
  // while mistakes are marked.
  get isReviewed() {
    return this.layers.has("mistakes") || this.game.isOver || this.analysis !== null;
  }

  // The judgements of the moves; nothing before they are asked for.
  judgements() {
    if (!this.isReviewed || this.game.moves.length === 0) return [];
    return this.review.judgementsOf(this.game, this.loaded);
  }

  // Announce a mistake of the person's latest move, once its judgement has arrived.
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
      return isWinners ? null : markOf(judged);
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
      hint: isHinted ? this.hint.action : null,
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

  get canHint() {
    return this.game.isPersonsTurn && !this.analysis?.setup;
  }

  // Show one good move of the position, with its reason.
  async showHint() {
    if (!this.canHint) return;
    const { rules, game } = this;
    const { position } = game;
    const agent = this.loaded;
    this.isHinting = true;
    this.changed();
    try {
      const { action, reason } = await this.boardValues.hint({ rules, position, agent });
      this.hint = { key: rules.key(position), action, reason };
      announce(`Hint: ${reason}.`);
    } catch (error) {
      say(error.message);
    }
    this.isHinting = false;
    this.changed();
  }

  // The reason of the hint that is shown, or null.
  get hintText() {
    if (this.isHinting) return "Looking for a good move…";
    const isShown = this.hint?.key === this.rules.key(this.game.position);
    return isShown ? `Hint: ${this.hint.reason}.` : null;
  }

  // ---- analysis

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
    this.analysis ??= new Analysis(this);
    this.analysis.setup = null;
    const notCounted = "it is an analysis";
    this.begin({ side: "x", opponent: this.opponent, start, moves, at, notCounted });
  }
}
