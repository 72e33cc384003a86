// The levels of the opponent, and the functions that choose their moves.

import { DATA } from "../engine/page_data.js";
import { LETTERS, SIDES } from "../engine/rules.js";
import { bestPlayNote } from "./grades.js";
import { capital } from "./words.js";

// From weak to strong. `randomShare` is the probability of a random move.
export const LEVELS = DATA.levels;

// Whether a name, from a link or from the storage, is that of a level.
export function isLevel(name) {
  return Object.hasOwn(LEVELS, name);
}

// The levels that are offered one after another to a person who wins.
const STEPS = Object.keys(LEVELS).filter((level) => level !== "expert");

// The level above, or null.
export function levelAbove(level) {
  const step = STEPS.indexOf(level);
  return step === -1 ? null : (STEPS[step + 1] ?? null);
}

const MAX_CELLS = 25; // of boards on which the browser solves every position in time
const MOVE_SECONDS = 10; // for a move of perfect play

// The levels of a game. The expert needs a game that the browser solves.
export function levelsOf(rules) {
  const names = Object.keys(LEVELS);
  return isSolved(rules) ? names : names.filter((name) => name !== "expert");
}

export function isSolved(rules) {
  return rules.numCells <= MAX_CELLS;
}

// Whether the agents of a game may search: in tic-tac-toe a search knows everything.
export function isSearched(rules) {
  return !rules.isEnumerable;
}

// The sides of an agent that a level is about. A corrected agent may be proven on one side
// alone, so it is the side that the agent plays; null if that is not known.
function sidesOf(agent, side) {
  return agent.file.corrections === null || side === null ? SIDES : [side];
}

// What is known of an agent: "proven" where this browser found that nobody beats it on
// these sides, "claimed" where only its file says so, "beaten" and "claimed beaten" where a line
// of play beats it, "checking" or "open".
function proofOf({ grades, agent, side }) {
  if (!agent) return "open";
  const known = sidesOf(agent, side).map((one) => grades.knownOf(agent, one));
  const origins = known.map(({ origin }) => origin);
  if (origins.includes("checking")) return "checking";
  const beaten = known.filter(({ seat }) => seat?.unbeatable === false);
  if (beaten.some(({ origin }) => origin === "browser")) return "beaten";
  if (beaten.length > 0) return "claimed beaten";
  if (!known.every(({ seat }) => seat?.unbeatable === true)) return "open";
  return origins.includes("file") ? "claimed" : "proven";
}

const UNBEATABLE = {
  proven: "Unbeatable (learned agent)",
  claimed: "Unbeatable by its file (learned agent)",
};
const WINS_ALL = {
  browser: "Wins every game (proven)",
  file: "Wins every game (proven, by its file)",
};
const PROOFS = {
  proven: "Proven: no line of play beats it.",
  claimed: "Its file says that no line of play beats it; this browser did not check it.",
  beaten: "Some line of play beats it.",
  "claimed beaten": "Its file says that some line of play beats it.",
  checking: "This browser is checking its proof…",
  open: "Not proven unbeatable.",
};

// What is known of the agent at its best, in sentences.
function proofText(player) {
  const { grades, agent, depth, side } = player;
  if (depth) return "It searches, too; a proof is of the agent alone.";
  if (!agent?.file.corrections) return PROOFS[proofOf(player)];
  const verdicts = sidesOf(agent, side).map(
    (one) => bestPlayNote(agent, one) || `As ${LETTERS[one]}: ${grades.verdictOf(agent, one)}.`,
  );
  return verdicts.join(" ");
}

// The name for an agent that is proven to win every game on the side that it plays.
function winnersName({ grades, agent, side }) {
  if (!agent || side === null) return undefined;
  const proven = grades.provenSides(agent).find((one) => one.side === side);
  return proven?.goal === "win" ? WINS_ALL[proven.origin] : undefined;
}

// A level's name; "Wins every game" and "Unbeatable" only where that is proven. `player` is
// { grades, agent (its loaded file or null), depth, side (the agent's, or null) }, or null for the
// name alone.
export function levelName(level, player) {
  if (level !== "full") return LEVELS[level].name;
  const isAlone = player?.depth === 0;
  const name = isAlone ? (winnersName(player) ?? UNBEATABLE[proofOf(player)]) : undefined;
  return name ?? "Learned agent at its best";
}

// Whether a draw is the best that a person can reach against a level, as far as that is
// known; `player` as for `levelName`.
export function isDrawBest(level, player, rules) {
  if (level === "expert") return rules.bestResult === "draw";
  return level === "full" && player.depth === 0 && UNBEATABLE[proofOf(player)] !== undefined;
}

// What a level plays, in sentences; `player` as for `levelName`.
export function levelText(level, player) {
  const text = `${capital(LEVELS[level].text)}.`;
  if (level === "expert") return text;
  return `${text} ${level === "full" ? proofText(player) : "You can beat it."}`;
}

function randomOf(actions) {
  return actions[Math.floor(Math.random() * actions.length)];
}

// The move of an agent, which looks `depth` moves ahead.
export function agentPlayer({ engine, rules, load, depth }) {
  return async (position) => {
    const agent = await load();
    const { move } = await engine.values({ envId: rules.envId, agent, position, depth });
    return move;
  };
}

// One of the moves that keep the exact result.
export function perfectPlayer({ engine, rules }) {
  return async (position) => {
    const request = { envId: rules.envId, position, seconds: MOVE_SECONDS };
    const exact = await engine.exact(request);
    if (exact === null) throw new Error("This position was not solved in time.");
    const moves = exact.actions.filter(({ value }) => value === exact.value);
    return randomOf(moves.map(({ action }) => action));
  };
}

// The function that moves for a level.
export function levelPlayer(level, { engine, rules, load, depth }) {
  if (level === "expert") return perfectPlayer({ engine, rules });
  const { randomShare } = LEVELS[level];
  const learned = agentPlayer({ engine, rules, load, depth });
  return async (position) => {
    if (Math.random() < randomShare) return randomOf(rules.legal(position));
    return learned(position);
  };
}
