// The page: its parts, and what happens when one of them changes.

import { announce, byId, revealBoard, setText, showFailure } from "page/dom";
import { Agents } from "page/agents";
import { Board } from "page/board";
import { Game } from "page/game";
import { Learning } from "page/learning";
import { ProofPanel } from "page/proof_panel";
import { judge, markOf, showReview, showStrip } from "page/review";
import { Settings } from "page/settings";
import { fromHash, startSharing, toHash } from "page/share";
import { openSource } from "page/source";
import { StatisticsPanel } from "page/statistics";
import { statusOf } from "page/status";
import { startTabs } from "page/tabs";
import { startTheme } from "page/theme";
import { say } from "page/toast";
import { Tree } from "page/tree";

const WITHOUT_SERVER =
  "This page works without a server. Play, values, review, proof and timeline are all here; " +
  "training is missing.";

class Page {
  constructor(source, tree) {
    Object.assign(this, { source, tree });
    this.agents = new Agents(tree, source);
    this.settings = new Settings(this.agents);
    this.game = new Game(tree, source, () => this.repliesOf(this.game.opponent));
    this.board = new Board(byId("board"), tree, (square) => this.game.play(square));
    this.proof = new ProofPanel(tree, source, this.agents, this.game);
    this.learning = new Learning(tree, source, this.agents, () => this.playSelected());
    this.statistics = new StatisticsPanel(tree, source, this.agents);
    this.hints = false;
    this.layers = [];
    this.marked = [];
  }

  // An expert needs no learned agent.
  repliesOf({ level, agent, update }) {
    return level === "expert" ? null : this.agents.values(agent, update);
  }

  newGame() {
    if (this.game.demo) {
      this.settings.setSide(this.game.side);
      this.settings.setLevel("medium");
    }
    return this.game.start(this.settings.nextSide, this.settings.opponent);
  }

  playSelected() {
    revealBoard();
    if (this.settings.level === "expert") this.settings.setLevel("medium");
    return this.newGame();
  }

  // A new choice holds at once, unless a game would be lost by it.
  chosen() {
    const begun = this.game.canUndo && !this.game.isOver && !this.game.demo;
    if (begun) say("This holds from the next game on.");
    else this.newGame();
  }

  listen() {
    const on = (id, listener) => byId(id).addEventListener("click", listener);
    on("new-game", () => this.newGame());
    on("undo", () => this.game.undo());
    on("back", () => this.game.goTo(this.game.at - 1));
    on("forward", () => this.game.goTo(this.game.at + 1));
    on("hint", () => {
      this.hints = !this.hints;
      this.show();
    });
    this.game.addEventListener("change", (event) => this.show(event.detail));
    this.agents.addEventListener("select", () => this.loadLayers());
    this.agents.addEventListener("progress", () => this.loadLayers());
    this.settings.addEventListener("layers", () => this.loadLayers());
    for (const name of ["opponent", "agent", "side"]) {
      this.settings.addEventListener(name, () => this.chosen());
    }
    window.addEventListener("hashchange", () => this.open(fromHash(location.hash)));
    startSharing(this.tree, this.game);
  }

  // Show the game of a link (see `fromHash`), or a new one.
  async open(link) {
    if (!link) return this.newGame();
    this.agents.select(link.agent ?? this.agents.id, link.update);
    this.settings.setLevel(link.level);
    this.settings.setSide(link.side);
    const opened = await this.game.open(link, this.settings.opponent);
    if (opened) return null;
    say("The link holds no position of this game.");
    return this.newGame();
  }

  async loadLayers() {
    this.asked = (this.asked ?? 0) + 1;
    const { asked, agents, settings } = this;
    const wanted = ["network", "table"].filter((kind) => settings.layers.has(kind));
    let layers = [];
    try {
      layers = await Promise.all(wanted.map((kind) => agents.layer(kind)));
    } catch (error) {
      say(error.message);
    }
    if (asked !== this.asked) return;
    if (settings.layers.has("exact")) layers.push({ layer: "exact" });
    this.layers = layers;
    settings.showLayers(layers);
    this.show();
  }

  show(detail = {}) {
    const { tree, game, settings } = this;
    const judged = judge(tree, game.moves, game.positions);
    const marking = settings.layers.has("mistakes") || game.isOver;
    // Of a line that beats the agent, the agent's mistakes alone.
    const shown = (one) => marking && !(game.demo && one.side === game.side);
    const marks = judged.map((one) => (shown(one) ? markOf(one) : null));
    const reviewing = !game.isLatest && game.isOver && !game.demo;
    this.board.show({
      position: game.position,
      last: game.at ? game.moves[game.at - 1] : null,
      marks: new Map(judged.slice(0, game.at).map((one, i) => [one.square, marks[i]])),
      playable: game.isPersonsTurn,
      moved: detail.moved,
      layers: this.layers,
      hints: this.hints || reviewing ? tree.perfectMoves(game.position) : [],
    });
    this.showStatus(judged, marks, detail);
    showStrip(byId("strip"), tree, game, marks, tree.numCells);
    showReview(byId("review"), tree, game, judged, marking);
    byId("undo").disabled = !game.canUndo;
    byId("back").disabled = game.at === 0;
    byId("forward").disabled = game.isLatest;
    byId("hint").setAttribute("aria-pressed", String(this.hints));
    if (detail.ended) this.statistics.refresh();
    const link = toHash({ ...game.opponent, moves: game.moves, side: game.side });
    if (!game.demo && location.hash !== link) history.replaceState(null, "", link);
  }

  showStatus(judged, marks, detail) {
    const status = statusOf(this.tree, this.game, judged, marks);
    setText(byId("status-main"), status.main);
    setText(byId("status-more"), status.more);
    byId("status").dataset.tone = status.tone;
    if (detail.moved || detail.started || detail.undone) announce(status.spoken);
  }
}

async function start() {
  const link = fromHash(location.hash); // before the page writes there
  const source = openSource();
  const tree = new Tree(await source.tree());
  source.statistics.open?.(tree);
  const page = new Page(source, tree);
  await page.agents.refresh();
  page.listen();
  page.proof.load();
  page.statistics.refresh();
  page.learning.listen();
  await page.loadLayers();
  await page.open(link);
  setText(byId("mode"), source.live ? "" : WITHOUT_SERVER);
}

startTheme(byId("theme"));
startTabs(byId("tabs"));
start().catch(showFailure);
