// The person's choices, which the browser keeps: for each game the level, side, agent and
// look-ahead; for the page the game and the layers of values.

import { read, write } from "../files/storage.js";
import { LEVELS } from "./levels.js";

export const LAYERS = {
  exact: "Exact values",
  network: "Network's values",
  table: "Table's values",
  numbers: "Numbers",
  line: "Next moves",
  mistakes: "Mark mistakes",
};
// The tabs, and the parts that each of them has, of which one is open; `start` is the part that
// the tab opens, if any. A link names the part.
export const TABS = {
  game: {
    title: "Game",
    start: "settings",
    parts: { settings: "Settings", review: "Review", network: "The network at work" },
  },
  learning: { title: "Learn", parts: { learning: "Learn" } },
  proof: { title: "Proof", parts: { proof: "Proof" } },
  more: {
    title: "More",
    parts: { compare: "Compare two agents", statistics: "Statistics", keys: "Keys" },
  },
};
export const DEPTHS = [0, 1, 2, 3, 4, 6, 8];
// A new visitor can win the first game.
const GAME = { level: "casual", side: "x", agent: null, depth: 0 };
const PAGE = { game: "tic_tac_toe", layers: ["mistakes"] };

// The tab that has a part, or that has this name itself; null where there is none.
export function tabWith(panel) {
  const entries = Object.entries(TABS);
  const [name] = entries.find(([tab, { parts }]) => tab === panel || Object.hasOwn(parts, panel)) ?? [null];
  return name;
}

// What is open after a click on a tab, or where a link names a tab or a part.
export function openingOf(name) {
  return TABS[name]?.start ?? name;
}

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
    this.panel = null; // the open part of a tab, or a tab without one; null: the first screen
    const layers = Array.isArray(this.page.layers) ? this.page.layers : PAGE.layers;
    this.layers = new Set(layers.filter((layer) => Object.hasOwn(LAYERS, layer)));
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
