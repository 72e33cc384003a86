// Statistics of a page without a server: games kept in this browser, as in a backup.

const KEY = "jax_ttt.statistics";
const FORMAT = "jax_ttt backup";
const VERSION = 1;
const MOST_GAMES = 5000; // the oldest go; a browser keeps about 5 MB for a page
const WORDS = { won: "wins", drawn: "draws", lost: "losses" };

function counted(games) {
  const found = { games: games.length, wins: 0, draws: 0, losses: 0 };
  for (const { result } of games) found[WORDS[result]] += 1;
  return { ...found, win_rate: games.length ? found.wins / games.length : null };
}

// A game of a file: its moves are played again on the tree.
function checked(tree, game, where) {
  const { id, finished, opponent, side, result, moves } = game ?? {};
  const texts = [id, opponent, side, result, moves];
  if (!texts.every((text) => typeof text === "string") || !(finished >= 0)) {
    throw new Error(`${where} lacks a field, or one has the wrong type`);
  }
  const positions = /^\d*$/.test(moves) ? tree.walk([...moves].map(Number)) : null;
  if (positions === null) throw new Error(`${where}: its moves are not possible`);
  if (!["x", "o"].includes(side) || tree.result(positions.at(-1), side) !== result) {
    throw new Error(`${where}: its result is not that of its moves`);
  }
  return { id, finished, opponent, side, result, moves };
}

// The games of a file, every one of them checked.
function parsed(tree, text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  if (found?.format !== FORMAT) throw new Error("it is not a backup of this program");
  if (found.version !== VERSION) {
    throw new Error(`format version ${found.version}; this page reads ${VERSION}`);
  }
  if (!Array.isArray(found.games)) throw new Error("it has no list of games");
  return found.games.map((game, i) => checked(tree, game, `game ${i + 1}`));
}

export class LocalStatistics {
  // `tree` is set before the first use.
  constructor() {
    this.tree = null;
    this.games = [];
    this.persistent = true;
  }

  open(tree) {
    this.tree = tree;
    let text = null;
    try {
      text = localStorage.getItem(KEY);
      if (text !== null) this.games = parsed(tree, text);
    } catch {
      if (text === null) this.persistent = false; // no storage here
      else this.setAside(text);
    }
  }

  // Damaged statistics are kept under another name; the next game would replace them.
  setAside(text) {
    try {
      localStorage.setItem(`${KEY}.damaged`, text);
    } catch {
      this.persistent = false;
    }
  }

  save() {
    this.games = this.games.slice(-MOST_GAMES);
    try {
      localStorage.setItem(KEY, this.text());
      this.persistent = true;
    } catch {
      this.persistent = false;
    }
  }

  text() {
    const about = { format: FORMAT, version: VERSION };
    return JSON.stringify({ ...about, games: this.games, agents: [] });
  }

  record(result, side, { level, agent }, moves) {
    const random = crypto.getRandomValues(new Uint8Array(12));
    this.games.push({
      id: [...random].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
      finished: Date.now() / 1000,
      opponent: level === "medium" ? agent : level,
      side,
      result,
      moves: moves.join(""),
    });
    this.save();
  }

  async read() {
    const names = [...new Set(this.games.map((game) => game.opponent))].sort();
    const of = (field, value) => counted(this.games.filter((game) => game[field] === value));
    return {
      ...counted(this.games),
      x: of("side", "x"),
      o: of("side", "o"),
      positions_learned: null,
      by_opponent: names.map((name) => ({ opponent: name, ...of("opponent", name) })),
    };
  }

  async clear() {
    this.games = [];
    this.save();
  }

  async backup() {
    return new Blob([this.text()], { type: "application/json" });
  }

  // A game that is there already is counted once.
  async restore(text) {
    const known = new Set(this.games.map((game) => game.id));
    const found = parsed(this.tree, text).filter((game) => !known.has(game.id));
    this.games = [...this.games, ...found].sort((a, b) => a.finished - b.finished);
    this.save();
  }
}
