// The person's finished games, which this browser keeps, and the file that they and the
// agents are exported to.

import { readAgent } from "./agent_file.js";
import { Rules, SIDES } from "./rules.js";
import * as storage from "./storage.js";

const NAME = "statistics";
const FORMAT = "jax_ttt statistics";
const VERSION = 1;
const MOST_GAMES = 5000; // the oldest go; a browser keeps about 5 MB for a page
const RESULTS = ["won", "drawn", "lost"];

// Numbers of games by result.
function countResults(games) {
  const counts = { games: games.length, won: 0, drawn: 0, lost: 0 };
  for (const { result } of games) counts[result] += 1;
  return counts;
}

function isText(value) {
  return typeof value === "string";
}

// A game with its fields alone. Throws where one is missing or has the wrong type.
function checkFields(game) {
  const { id, finished, env_id, opponent, side, result, moves } = game ?? {};
  const { level, title = null } = opponent ?? {};
  const isValid =
    [id, env_id, level].every(isText) &&
    (title === null || isText(title)) &&
    Number.isFinite(finished) &&
    SIDES.includes(side) &&
    RESULTS.includes(result) &&
    Array.isArray(moves) &&
    moves.every(Number.isInteger);
  if (!isValid) throw new Error("a game lacks a field, or one is not of the right type");
  return { id, finished, env_id, opponent: { level, title }, side, result, moves };
}

// Play the moves of games again. Throws where the rules do not allow one.
function checkRules(games) {
  const rulesOf = new Map();
  for (const { env_id, side, result, moves } of games) {
    if (!Rules.knows(env_id)) throw new Error("one of its games is not known here");
    if (!rulesOf.has(env_id)) rulesOf.set(env_id, new Rules(env_id));
    const rules = rulesOf.get(env_id);
    const positions = rules.positions(moves);
    if (positions === null) throw new Error("the moves of a game are not possible");
    if (rules.result(positions.at(-1), side) !== result) {
      throw new Error("the result of a game is not that of its moves");
    }
  }
}

function checkAgent(agent) {
  const { id, name, data } = agent ?? {};
  if (![id, name, data].every(isText)) throw new Error("an agent lacks a field");
  try {
    const bytes = storage.fromBase64(data);
    readAgent(bytes);
    return { id, name, bytes };
  } catch (error) {
    throw new Error(`an agent could not be read: ${error.message}`);
  }
}

// The games and agents of a file; throws unless all of it is valid.
function parse(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  if (file?.format !== FORMAT) throw new Error("it is not a file of this page");
  if (file.version !== VERSION) throw new Error("it is not of a version that this page reads");
  if (!Array.isArray(file.games) || !Array.isArray(file.agents)) {
    throw new Error("it does not have lists of games and agents");
  }
  const games = file.games.map(checkFields);
  checkRules(games);
  return { games, agents: file.agents.map(checkAgent) };
}

// The counted games: [{ id, finished (seconds since 1970), env_id, opponent: { level,
// title }, side, result, moves }].
export class Statistics {
  // `changed` is called after each change.
  constructor(agents, changed) {
    this.agents = agents;
    this.changed = changed;
    this.isPersistent = storage.isPersistent;
    this.games = [];
    this.open();
    storage.onChange((name) => {
      if (name !== NAME) return;
      this.open();
      changed();
    });
  }

  open() {
    try {
      const games = storage.names(NAME).includes(NAME) ? storage.read(NAME).games : [];
      this.games = games.map(checkFields);
    } catch {
      storage.setAside(NAME); // damaged: the next game would replace it
      storage.remove(NAME);
      this.games = [];
    }
  }

  // Keep what `change(games)` returns. They are read again, since another tab may have
  // counted a game whose event is still to come.
  update(change) {
    this.open();
    this.games = change(this.games).slice(-MOST_GAMES);
    this.isPersistent = storage.write(NAME, { games: this.games });
    this.changed();
  }

  // Count a finished game.
  record({ env_id, opponent, side, result, moves }) {
    const { level, title = null } = opponent;
    const game = {
      id: crypto.getRandomValues(new Uint32Array(3)).join("-"),
      finished: Math.round(Date.now() / 1000),
      env_id,
      opponent: { level, title },
      side,
      result,
      moves: [...moves],
    };
    this.update((games) => [...games, game]);
  }

  // The counts of a game: { all, sides: { x, o }, opponents: [{ level, title, counts }] }.
  countsOf(envId) {
    const games = this.games.filter((game) => game.env_id === envId);
    const opponents = new Map();
    for (const game of games) {
      const key = JSON.stringify(game.opponent);
      opponents.set(key, [...(opponents.get(key) ?? []), game]);
    }
    const sideCounts = (side) => countResults(games.filter((game) => game.side === side));
    return {
      all: countResults(games),
      sides: { x: sideCounts("x"), o: sideCounts("o") },
      opponents: [...opponents.values()].map((group) => ({
        ...group[0].opponent,
        counts: countResults(group),
      })),
    };
  }

  // Forget the games of all boards.
  clear() {
    this.update(() => []);
  }

  // All of it as a file: { text, missing: the titles of agents that it lacks }.
  async file() {
    const { agents, missing } = await this.agents.exported();
    const { games } = this;
    return { text: JSON.stringify({ format: FORMAT, version: VERSION, games, agents }), missing };
  }

  // Add the games and agents of a file. What is here already is not added again. Throws,
  // and changes nothing, where a part of the file is not valid.
  async addFile(text) {
    const { games, agents } = parse(text);
    const added = [];
    try {
      for (const agent of agents) {
        if (!(await this.agents.isHere(agent))) {
          added.push(this.agents.keep(agent.name, agent.bytes));
        }
      }
    } catch (error) {
      for (const id of added) await this.agents.remove(id);
      throw error;
    }
    this.update((counted) => {
      const byId = new Map([...games, ...counted].map((game) => [game.id, game]));
      return [...byId.values()].sort((a, b) => a.finished - b.finished);
    });
  }
}
