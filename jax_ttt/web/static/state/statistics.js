// The person's finished games, which this browser keeps.

import { Rules, SIDES, rulesOf } from "../engine/rules.js";
import * as storage from "../files/storage.js";
import { observe } from "./observe.js";

const NAME = "statistics";
const MAX_GAMES = 5000; // the oldest go; a browser keeps about 5 MB for a page
const RESULTS = ["won", "drawn", "lost"];
const FORMAT = "jax_ttt statistics"; // of the file
const VERSION = 1;

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
  for (const { env_id, side, result, moves } of games) {
    if (!Rules.knows(env_id)) throw new Error("one of its games is not known here");
    const rules = rulesOf(env_id);
    const positions = rules.positions(moves);
    if (positions === null) throw new Error("the moves of a game are not possible");
    if (rules.result(positions.at(-1), side) !== result) {
      throw new Error("the result of a game is not that of its moves");
    }
  }
}

// The games of a file. Throws unless all of them are valid.
function gamesOf(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  if (file?.format !== FORMAT) throw new Error("it is not a file of this page");
  if (file.version !== VERSION) {
    throw new Error(`it has version ${file.version}, and this page reads ${VERSION}`);
  }
  if (!Array.isArray(file.games)) throw new Error("it does not have a list of games");
  const games = file.games.map(checkFields);
  checkRules(games);
  return games;
}

// The counted games: [{ id, finished (seconds since 1970), env_id, opponent: { level,
// title }, side, result, moves }].
export class Statistics {
  isPersistent = storage.isPersistent;
  games = [];
  outcome = null; // { text, count } of the last command; count: the games it left

  constructor() {
    observe(this, "isPersistent", "games", "outcome");
    this.open();
    storage.onChange((name) => name === NAME && this.open());
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
    this.games = change(this.games).slice(-MAX_GAMES);
    this.isPersistent = storage.write(NAME, { games: this.games });
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

  // The file of all games, for another browser.
  get fileText() {
    return JSON.stringify({ format: FORMAT, version: VERSION, games: this.games });
  }

  // Add the games of a file. What is here already is not added again. Throws, and changes
  // nothing, where a part of the file is not valid.
  addFile(text) {
    const games = gamesOf(text);
    this.update((counted) => {
      const byId = new Map([...games, ...counted].map((game) => [game.id, game]));
      return [...byId.values()].sort((a, b) => a.finished - b.finished);
    });
  }
}
