// The person's choices, which the browser keeps: for each game the level, side, agent and
// look-ahead; for the page the game, the tab and the layers of values.

import { read, write } from "../files/storage.js";
import { LEVELS } from "./levels.js";

export const LAYERS = {
  exact: "Exact values",
  network: "Network's values",
  table: "Table's values",
  line: "Next moves",
  mistakes: "Mark mistakes",
};
// The titles of the tabs, by their names in links.
export const TABS = {
  game: "Game",
  review: "Review",
  learning: "Learning",
  proof: "Proof",
  compare: "Compare",
  statistics: "Statistics",
};
export const DEPTHS = [0, 1, 2, 3, 4, 6, 8];
// A new visitor can win the first game.
const GAME = { level: "casual", side: "x", agent: null, depth: 0 };
const PAGE = { game: "tic_tac_toe", panel: "game", layers: ["mistakes"] };

// A kept value, or the default where it is not one of `allowed`.
function oneOf(allowed, value, missing) {
  return allowed.includes(value) ? value : missing;
}

// The choices without agents in training, since the next training has another agent.
function withoutLive(games) {
  const entries = Object.entries(games).map(([envId, choices]) => {
    const isLive = choices.agent?.startsWith("live/");
    return [envId, isLive ? { ...choices, agent: null } : choices];
  });
  return Object.fromEntries(entries);
}

export class Settings {
  constructor() {
    this.page = { ...PAGE, ...read("page", {}) };
    this.games = read("games", {});
    const layers = Array.isArray(this.page.layers) ? this.page.layers : PAGE.layers;
    this.layers = new Set(layers.filter((layer) => Object.hasOwn(LAYERS, layer)));
  }

  // The name of the open tab.
  get panel() {
    return Object.hasOwn(TABS, this.page.panel) ? this.page.panel : PAGE.panel;
  }

  // The choices for a game: { level, side, agent, depth }.
  choicesFor(envId) {
    const chosen = { ...GAME, ...this.games[envId] };
    return {
      level: oneOf(Object.keys(LEVELS), chosen.level, GAME.level),
      side: oneOf(["x", "o", "random"], chosen.side, GAME.side),
      agent: typeof chosen.agent === "string" ? chosen.agent : null,
      depth: oneOf(DEPTHS, chosen.depth, GAME.depth),
    };
  }

  choose(envId, choices) {
    const chosen = { ...this.choicesFor(envId), ...choices };
    this.games = { ...this.games, [envId]: chosen };
    // Another tab may have chosen for another game meanwhile.
    write("games", { ...read("games", {}), ...withoutLive({ [envId]: chosen }) });
  }

  setPage(choices) {
    this.page = { ...this.page, ...choices };
    write("page", this.page);
  }

  setLayer(layer, isShown) {
    if (isShown) this.layers.add(layer);
    else this.layers.delete(layer);
    this.setPage({ layers: [...this.layers] });
  }
}
