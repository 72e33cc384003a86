// Statistics of a page without a server: kept in this browser where it allows that.

const KEY = "jax_ttt.statistics";
const FORMAT = "jax_ttt statistics";
const RESULTS = { won: "wins", drawn: "draws", lost: "losses" };

function nothing() {
  return { x: counts(), o: counts(), by_opponent: {} };
}

function counts() {
  return { wins: 0, draws: 0, losses: 0 };
}

function total(part) {
  return part.wins + part.draws + part.losses;
}

function checked(part, where) {
  const plain = part !== null && typeof part === "object" && !Array.isArray(part);
  if (!plain) throw new Error(`${where}: not an object`);
  for (const name of Object.values(RESULTS)) {
    if (!Number.isSafeInteger(part[name]) || part[name] < 0) {
      throw new Error(`${where}.${name}: not a whole number from 0 up`);
    }
  }
  return { wins: part.wins, draws: part.draws, losses: part.losses };
}

// The statistics of a file, every part of them checked.
function parsed(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error("the file is not JSON");
  }
  if (found?.format !== FORMAT) throw new Error("the file holds no statistics of this page");
  const opponents = Object.entries(found.by_opponent ?? {});
  return {
    x: checked(found.x, "x"),
    o: checked(found.o, "o"),
    by_opponent: Object.fromEntries(
      opponents.map(([name, part]) => [name, checked(part, `by_opponent.${name}`)]),
    ),
  };
}

export class LocalStatistics {
  constructor() {
    this.kept = nothing();
    this.persistent = true;
    try {
      const text = localStorage.getItem(KEY);
      if (text !== null) this.kept = parsed(text);
    } catch {
      this.persistent = false; // no storage here, or what is there is damaged
    }
  }

  save() {
    try {
      localStorage.setItem(KEY, this.text());
      this.persistent = true;
    } catch {
      this.persistent = false;
    }
  }

  text() {
    return JSON.stringify({ format: FORMAT, ...this.kept });
  }

  record(result, side, opponent) {
    const name = opponent.label ?? opponent.level;
    this.kept.by_opponent[name] ??= counts();
    for (const part of [this.kept[side], this.kept.by_opponent[name]]) {
      part[RESULTS[result]] += 1;
    }
    this.save();
  }

  async read() {
    const { x, o, by_opponent: opponents } = this.kept;
    const sum = (name) => x[name] + o[name];
    const games = total(x) + total(o);
    return {
      games,
      wins: sum("wins"),
      draws: sum("draws"),
      losses: sum("losses"),
      x: { games: total(x), ...x },
      o: { games: total(o), ...o },
      win_rate: games ? sum("wins") / games : null,
      positions_learned: null,
      by_opponent: Object.entries(opponents).map(([name, part]) => ({
        opponent: name,
        games: total(part),
        ...part,
      })),
    };
  }

  async clear() {
    this.kept = nothing();
    this.save();
  }

  async backup() {
    return new Blob([this.text()], { type: "application/json" });
  }

  async restore(text) {
    this.kept = parsed(text); // throws before anything is changed
    this.save();
  }
}
