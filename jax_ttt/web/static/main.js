// The page: its parts, and what happens when one of them changes.

import { announce, byId, setText } from "page/dom";
import { Agents } from "page/agents";
import { Board } from "page/board";
import { Game } from "page/game";
import { ProofPanel } from "page/proof_panel";
import { judge, markOf, showReview, showStrip } from "page/review";
import { Settings } from "page/settings";
import { asSvg, asText, copy, fromHash, toHash } from "page/share";
import { openSource } from "page/source";
import { startTabs } from "page/tabs";
import { startTheme } from "page/theme";
import { statusOf } from "page/status";
import { Tree } from "page/tree";

startTheme(byId("theme"));
startTabs(byId("tabs"), () => {});
start().catch((error) => {
  setText(byId("status-main"), "The page could not start.");
  setText(byId("status-more"), error.message);
  throw error;
});

async function start() {
  const source = openSource();
  const tree = new Tree(await source.tree());
  const agents = new Agents(tree, source);
  const settings = new Settings(agents);
  const game = new Game(tree, source, () => agents.values(game.opponent.agent, game.opponent.update));
  const board = new Board(byId("board"), tree, (square) => game.play(square));
  const proof = new ProofPanel(tree, source, agents, game);
  await agents.refresh();
  const page = { source, tree, agents, settings, game, board, hints: false, layers: [] };
  const newGame = () => game.start(settings.nextSide, settings.opponent);
  byId("new-game").addEventListener("click", newGame);
  byId("undo").addEventListener("click", () => game.undo());
  byId("back").addEventListener("click", () => game.goTo(game.at - 1));
  byId("forward").addEventListener("click", () => game.goTo(game.at + 1));
  byId("hint").addEventListener("click", () => {
    page.hints = !page.hints;
    show(page);
  });
  game.addEventListener("change", (event) => show(page, event.detail));
  agents.addEventListener("select", () => loadLayers(page));
  settings.addEventListener("layers", () => loadLayers(page));
  settings.addEventListener("opponent", newGame);
  settings.addEventListener("side", newGame);
  startSharing(page);
  proof.load();
  await loadLayers(page);
  await open(page, newGame);
  setText(byId("mode"), source.live ? "" : "This page works without a server: training is missing here.");
}

async function open(page, newGame) {
  const { agents, settings, game } = page;
  const link = fromHash(location.hash);
  if (link) {
    if (link.agent) agents.select(link.agent, link.update);
    if (link.level) settings.setLevel(link.level);
    settings.setSide(link.side);
    if (await game.load(link.moves, link.side, settings.opponent)) return;
  }
  await newGame();
}

async function loadLayers(page) {
  const { agents, settings } = page;
  const wanted = ["network", "table"].filter((kind) => settings.layers.has(kind));
  const layers = await Promise.all(
    wanted.map(async (kind) => {
      const one = agents.ofKind(kind);
      return { layer: kind, values: one && (await agents.values(one.id, one.update)) };
    }),
  );
  if (settings.layers.has("exact")) layers.push({ layer: "exact" });
  page.layers = layers;
  show(page);
}

function show(page, detail = {}) {
  const { tree, game, settings, board } = page;
  const judged = judge(tree, game.moves, game.positions);
  const shownMarks = settings.layers.has("mistakes") || game.isOver;
  const marks = judged.map((one) => (shownMarks ? markOf(one) : null));
  const reviewing = !game.isLatest && game.isOver;
  board.show({
    position: game.position,
    last: game.at ? game.moves[game.at - 1] : null,
    mark: game.at ? marks[game.at - 1] : null,
    playable: game.isPersonsTurn,
    moved: detail.moved,
    layers: page.layers,
    hints: page.hints || reviewing ? tree.perfectMoves(game.position) : [],
  });
  const status = statusOf(tree, game, marks);
  setText(byId("status-main"), status.main);
  setText(byId("status-more"), status.more);
  byId("status").dataset.tone = status.tone;
  if (status.spoken && (detail.moved || detail.started)) announce(status.spoken);
  showStrip(byId("strip"), tree, game, marks, tree.numCells);
  showReview(byId("review"), tree, game, judged);
  byId("undo").disabled = !game.canUndo;
  byId("back").disabled = game.at === 0;
  byId("forward").disabled = game.isLatest;
  byId("hint").setAttribute("aria-pressed", String(page.hints));
  const link = toHash({ ...game.opponent, moves: game.moves, side: game.side });
  if (location.hash !== link) history.replaceState(null, "", link);
}

function startSharing({ tree, game }) {
  const copied = async (what, text) => {
    const done = await copy(text);
    say(done ? `${what} copied.` : `This browser does not let the page copy the ${what}.`);
  };
  byId("copy-link").addEventListener("click", () => copied("Link", location.href));
  byId("copy-text").addEventListener("click", () =>
    copied("Text", asText(tree, game.position)),
  );
  byId("copy-svg").addEventListener("click", () => copied("SVG", asSvg(tree, game.position)));
}

function say(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  announce(text);
  clearTimeout(say.timer);
  say.timer = setTimeout(() => {
    toast.hidden = true;
  }, 2500);
}
