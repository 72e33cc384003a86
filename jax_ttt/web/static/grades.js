// Grades of agents: exact results against every opponent, now and in the past.

import { versionOf } from "./agents.js";
import { Rules, SEATS, SIDES } from "./rules.js";

const FEASIBLE_CELLS = 20; // boards on which a grade takes a second or two

const RETRY = 10_000; // milliseconds after which a history that failed is loaded again

// Both belong to the page, not to a panel, so that nothing is computed or loaded twice.
const computed = new Map(); // grades, and null where one failed, by the agent's key
const histories = new Map(); // { rows, isLoading, error, retry } by the agent's version
let isChecking = false; // whether an agent is checked that nobody asked for

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
export function isUnbeatable(grade) {
  const seats = grade.seats ?? Object.values(SEATS).filter((seat) => grade[seat]);
  return seats.length > 0 && seats.every((seat) => grade[seat]?.unbeatable === true);
}

// The rates of a side's games against a random opponent: { win_rate, draw_rate, loss_rate,
// isExact }, or null where they are not known.
export function ratesOf(grade, side) {
  const seat = seatOf(grade, side);
  if (typeof seat?.win_rate === "number" && !seat.win_rate_interval) {
    return { ...seat, isExact: true };
  }
  const sampled = grade?.sampled?.[SEATS[side]];
  if (typeof sampled?.win_rate !== "number") return null;
  return { ...sampled, isExact: !sampled.win_rate_interval };
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

// Compute an agent's grade, also if it was computed before. `onProgress` gets the number
// of positions that were visited.
export async function computeGrade(app, rules, agent, onProgress) {
  const grade = await app.engine.grade({
    envId: rules.envId,
    agent,
    onProgress: onProgress && (({ positions }) => onProgress(positions)),
  });
  computed.set(agent.key, grade);
  return grade;
}

// The seats of an agent's file with a line that beats it, where the agent plays its moves.
async function checkLosingLines(app, rules, agent) {
  const grade = {};
  for (const side of SIDES) {
    const seat = seatOf(agent.file.grade, side);
    if (seat?.losing_line && (await playsLine(app, rules, agent, side, seat.losing_line))) {
      grade[SEATS[side]] = { unbeatable: false, losing_line: seat.losing_line };
    }
  }
  computed.set(agent.key, grade);
}

async function playsLine(app, rules, agent, side, line) {
  for (const [i, position] of rules.positions(line).entries()) {
    if (i === line.length || rules.toMove(position) !== side) continue;
    const { move } = await app.engine.values({ envId: rules.envId, agent, position });
    if (move !== line[i]) return false;
  }
  return true;
}

// Check one of these agents in the background, unless all are checked. The page calls it
// whenever it is rendered, and is rendered again after each check.
export function checkAgents(app, agents) {
  const agent = agents.find(({ key }) => !computed.has(key));
  if (!agent || isChecking) return;
  isChecking = true;
  const rules = new Rules(agent.file.envId);
  const check = isFeasible(rules) ? computeGrade : checkLosingLines;
  check(app, rules, agent)
    .catch(() => computed.set(agent.key, computed.get(agent.key) ?? null))
    .finally(() => {
      isChecking = false;
      app.changed();
    });
}

// What is known of a side of a loaded agent: { seat, origin }. The origin is "browser" where
// this browser followed the lines of play, "file" where only the agent's file says it, and
// "checking" where the browser will know better than the file in a moment.
export function knownOf(agent, side) {
  const seat = seatOf(computed.get(agent.key), side);
  if (seat) return { seat, origin: "browser" };
  const { grade, envId } = agent.file;
  if (!computed.get(agent.key) && isFeasible(new Rules(envId))) {
    // Where the browser can check, a check that was stopped leaves nothing known.
    return { seat: null, origin: computed.has(agent.key) ? "file" : "checking" };
  }
  return { seat: seatOf(grade, side), origin: "file" };
}

async function loadHistory(app, rules, entry, history) {
  const rows = await app.source.history(entry.id);
  history.rows = rows.filter(({ grade }) => hasRates(grade));
  if (history.rows.length >= entry.snapshots.length || !isFeasible(rules)) return;
  history.rows = [];
  for (const update of entry.snapshots) {
    const agent = await app.agents.load(entry.id, update);
    const grade = computed.get(agent.key) ?? (await computeGrade(app, rules, agent));
    history.rows = [...history.rows, { update, grade }];
    app.changed();
  }
}

// An agent's grades during its training: { rows: [{ update, grade }], isLoading, error }.
// A run has written its rows. An agent with snapshots only has each snapshot graded here,
// so its rows arrive one by one.
export function historyOf(app, rules, entry) {
  const version = versionOf(entry);
  const earlier = histories.get(version);
  if (earlier && performance.now() < earlier.retry) return earlier;
  const history = { rows: [], isLoading: true, error: "", retry: Infinity };
  histories.set(version, history);
  if (entry.source === "browser" || entry.source === "kept") history.isLoading = false;
  else {
    loadHistory(app, rules, entry, history)
      .catch((error) => {
        history.error = error.message;
        history.retry = performance.now() + RETRY;
      })
      .finally(() => {
        history.isLoading = false;
        app.changed();
      });
  }
  return history;
}
