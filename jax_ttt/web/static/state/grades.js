// Grades of agents: exact results against every opponent, now and in the past.

import { LETTERS, SEATS, SIDES, other, rulesOf } from "../engine/rules.js";
import { versionOf } from "./agents.js";
import { observe } from "./observe.js";
import { Resource } from "./resource.js";
import { counted } from "./words.js";

const FEASIBLE_CELLS = 20; // boards on which a grade takes a second or two

// Whether the browser computes a grade of this game.
export function isFeasible(rules) {
  return rules.numCells <= FEASIBLE_CELLS;
}

// What a grade says of a side, or null.
export function seatOf(grade, side) {
  return grade?.[SEATS[side]] ?? null;
}

// Whether nobody beats the agent in the seats that it learned; false if not known. A grade
// that this browser computed has only those seats.
function isUnbeatable(grade) {
  const seats = grade.seats ?? Object.values(SEATS).filter((seat) => grade[seat]);
  return seats.length > 0 && seats.every((seat) => grade[seat]?.unbeatable === true);
}

// Whether a line of play beats the agent, in one of the seats that it learned.
export function isBeaten(grade) {
  return SIDES.some((side) => seatOf(grade, side)?.unbeatable === false);
}

// The rates of a side's games against a random opponent: { win_rate, draw_rate, loss_rate,
// isExact }, or null where they are not known.
export function ratesOf(grade, side) {
  const seat = seatOf(grade, side);
  if (typeof seat?.win_rate === "number" && areExact(seat)) return { ...seat, isExact: true };
  const sampled = grade?.sampled?.[SEATS[side]];
  if (typeof sampled?.win_rate !== "number") return null;
  return { ...sampled, isExact: areExact(sampled) };
}

// Whether the lower and the upper bounds of rates are equal; those of this page have none.
function areExact({ low, high }) {
  return low === undefined || low.every((bound, i) => bound === high[i]);
}

// Whether a grade says anything of games or of lines of play.
function hasResults(grade) {
  return hasRates(grade) || SIDES.some((side) => seatOf(grade, side) !== null);
}

// The update of the first row of the last unbroken stretch of proven rows, or null; as
// `proven_from` of pictures/curves.py. A row without results does not break it.
export function provenFrom(rows) {
  let from = null;
  for (const { update, grade } of rows) {
    if (!hasResults(grade)) continue;
    if (!isUnbeatable(grade)) from = null;
    else from ??= update;
  }
  return from;
}

// What follows a result: the server marks grades that it has from a file.
export function byFile(rows) {
  return rows.some(({ grade }) => grade.by_file) ? ", by its file" : "";
}

// "exact", "partly sampled" or "sampled", for the rates of both sides; as `source_of_rates`
// of files/metrics_rows.py.
export function sourceOfRates(rows) {
  const rates = rows.flatMap(({ grade }) => SIDES.map((side) => ratesOf(grade, side)));
  const areExact = rates.filter((rate) => rate !== null).map(({ isExact }) => isExact);
  if (!areExact.includes(true)) return "sampled";
  return areExact.includes(false) ? "partly sampled" : "exact";
}

// Whether a grade has the rates of a side at least.
function hasRates(grade) {
  return SIDES.some((side) => ratesOf(grade, side) !== null);
}

// What best play does to a corrected agent on a side where its opponent can always win, in a
// sentence; empty for other agents and sides.
export function bestPlayNote({ file }, side) {
  const winner = SEATS[other(side)];
  const isLost = file.corrections !== null && rulesOf(file.envId).bestResult === winner;
  if (!isLost) return "";
  return `The ${winner} player can win with best play: as ${LETTERS[side]}, the agent is only strong.`;
}

// What the page found out of agents, so that nothing is computed or loaded twice.
export class Grades {
  engine; source;
  computed = new Map(); // grades, and null where one failed, by the agent's key
  isChecking = false; // whether an agent is checked that nobody asked for
  // The checks that were begun last, of all lines and of some: see checks.js.
  proofCheck = null;
  linesCheck = null;

  constructor({ engine, source }) {
    Object.assign(this, { engine, source });
    observe(this, "computed", "isChecking", "proofCheck", "linesCheck");
    this.histories = new Resource(); // rows of evaluations by the agent's id
  }

  keep(agent, grade) {
    this.computed = new Map(this.computed).set(agent.key, grade);
  }

  // Compute an agent's grade, also if it was computed before. `onProgress` gets the number
  // of positions that were visited.
  async compute(rules, agent, onProgress) {
    const grade = await this.engine.grade({
      envId: rules.envId,
      agent,
      onProgress: onProgress && (({ positions }) => onProgress(positions)),
    });
    this.keep(agent, grade);
    return grade;
  }

  // Check one of these agents in the background, unless all are checked. An effect that calls it
  // checks all, one after another.
  checkNext(agents) {
    const agent = agents.find(({ key }) => !this.computed.has(key));
    if (!agent || this.isChecking) return;
    this.isChecking = true;
    const rules = rulesOf(agent.file.envId);
    const check = isFeasible(rules)
      ? this.compute(rules, agent)
      : this.checkLosingLines(rules, agent);
    check
      .catch(() => this.keep(agent, this.computed.get(agent.key) ?? null))
      .finally(() => {
        this.isChecking = false;
      });
  }

  // The seats of an agent's file with a line that beats it, where the agent plays its moves.
  async checkLosingLines(rules, agent) {
    const grade = {};
    for (const side of SIDES) {
      const seat = seatOf(agent.file.grade, side);
      if (seat?.losing_line && (await this.playsLine(rules, agent, side, seat.losing_line))) {
        grade[SEATS[side]] = { unbeatable: false, losing_line: seat.losing_line };
      }
    }
    this.keep(agent, grade);
  }

  async playsLine(rules, agent, side, moves) {
    const { envId } = rules;
    const { areAgents } = await this.engine.agentMoves({ envId, agent, moves, side });
    return areAgents.every((isAgents) => isAgents);
  }

  // What is known of a side of a loaded agent: { seat, origin }. The origin is "browser" where
  // this browser followed the lines of play, "file" where only the agent's file says it, and
  // "checking" where the browser will know better than the file in a moment.
  knownOf(agent, side) {
    const computed = this.computed.get(agent.key);
    const seat = seatOf(computed, side);
    if (seat) return { seat, origin: "browser" };
    const { grade, envId } = agent.file;
    if (!computed && isFeasible(rulesOf(envId))) {
      // Where the browser can check, a check that was stopped leaves nothing known.
      return { seat: null, origin: computed === null ? "file" : "checking" };
    }
    return { seat: seatOf(grade, side), origin: "file" };
  }

  // The sides on which a loaded agent is proven: [{ side, goal: "win" or "not-lose", origin }],
  // with the origin of `knownOf`.
  provenSides(agent) {
    const sides = SIDES.map((side) => ({ side, ...this.knownOf(agent, side) }));
    const proven = sides.filter(({ seat }) => seat?.unbeatable === true);
    return proven.map(({ side, seat, origin }) => {
      return { side, goal: seat.proven ?? "not-lose", origin };
    });
  }

  // The verdict on a side of a loaded agent, in words.
  verdictOf(agent, side) {
    const { seats, envId } = agent.file;
    if (!seats.includes(SEATS[side])) return "It did not learn this side";
    const { seat, origin } = this.knownOf(agent, side);
    if (origin === "checking") return "checking in this browser…";
    const source = origin === "file" ? " by its file" : "";
    if (seat?.unbeatable === true) {
      const winsAll = `Wins every game moving ${SEATS[side]}, proven`;
      const claim = seat.proven === "win" ? winsAll : "Unbeatable";
      const { num_corrections: count } = seat;
      const note = typeof count === "number" ? ` with ${counted(count, "correction")}` : "";
      return claim + source + note;
    }
    if (seat?.unbeatable === false) return `Can be beaten${source}`;
    return isFeasible(rulesOf(envId)) ? "Not known" : "Not known: too many positions";
  }

  // An agent's grades during its training: { rows: [{ update, grade }], isLoading, error }.
  historyOf(entry) {
    if (entry.source === "browser") return { rows: [], isLoading: false, error: "" };
    const load = async () => {
      const rows = await this.source.history(entry.id);
      return rows.filter(({ grade }) => hasRates(grade));
    };
    const { value, error } = this.histories.get(entry.id, load, versionOf(entry));
    const isLoading = value === undefined && error === null;
    return { rows: value ?? [], isLoading, error: error?.message ?? "" };
  }
}
