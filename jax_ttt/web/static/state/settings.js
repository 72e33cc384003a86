// The person's choices: the open game and tab, and what the browser keeps, which is for each game
// the level, side, agent and look-ahead, and for the page the game and the layers of values.

import { Rules, rulesOf } from "../engine/rules.js";
import { read, write } from "../files/storage.js";
import { LIVE } from "./agents.js";
import { LEVELS } from "./levels.js";
import { observe } from "./observe.js";

export const GAMES = ["tic_tac_toe", "connect_5x4", "connect_7x6"]; // offered without any run

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
const PAGE = { game: GAMES[0], layers: ["mistakes"] };

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
    const isLive = choices.agent?.startsWith(LIVE);
    return [envId, isLive ? { ...choices, agent: null } : choices];
  });
  return Object.fromEntries(entries);
}

export class Settings {
  page = { ...PAGE, ...read("page", {}) };
  games = read("games", {});
  panel = null; // the open part of a tab, or a tab without one; null: the first screen

  constructor() {
    observe(this, "page", "games", "panel");
  }

  // The rules of the open game.
  get rules() {
    const { game } = this.page;
    return rulesOf(Rules.knows(game) ? game : GAMES[0]);
  }

  // The layers of values on the board, a Set.
  get layers() {
    const layers = Array.isArray(this.page.layers) ? this.page.layers : PAGE.layers;
    return new Set(layers.filter((layer) => Object.hasOwn(LAYERS, layer)));
  }

  // Whether the page shows the first screen, which invites to play.
  get isInviting() {
    return this.panel === null;
  }

  // The choices for the open game.
  get choices() {
    return this.choicesFor(this.rules.envId);
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

  // Choose for the open game.
  choose(choices) {
    const { envId } = this.rules;
    const chosen = { ...this.choices, ...choices };
    this.games = { ...this.games, [envId]: chosen };
    // Another tab may have chosen for another game meanwhile.
    write("games", { ...read("games", {}), ...withoutLive({ [envId]: chosen }) });
  }

  setPage(choices) {
    this.page = { ...this.page, ...choices };
    write("page", this.page);
  }

  setLayer(layer, isShown) {
    const others = [...this.layers].filter((other) => other !== layer);
    this.setPage({ layers: isShown ? [...others, layer] : others });
  }
}
