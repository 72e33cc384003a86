// Each move of a game compared with exact play, or with the agent's own search where the
// browser does not solve the position in time.

import { Resource } from "./resource.js";
import { counted, signed } from "./words.js";

const SECONDS = 1; // for the exact result of one position
const DEPTH = 4; // moves that the agent's search looks ahead
const MISTAKE_LOSS = 0.3; // how much of the searched value a mistake gives away
const BLUNDER_LOSS = 1;
const MISTAKE = { sign: "?", word: "mistake" };
const BLUNDER = { sign: "??", word: "blunder" };
const WORDS = ["loss", "draw", "win"];

// The judgement where nothing solves a position and no agent is loaded that could search.
const NOT_KNOWN = { isKnown: false };

export function outcomeWord(value) {
  return WORDS[value + 1];
}

// A number of moves of both players in words.
export function inMoves(moves) {
  return moves === 1 ? "1 move" : `${moves} moves`;
}

function judgeExactly(exact, action) {
  const own = exact.actions.find((one) => one.action === action);
  return {
    isKnown: true,
    isExact: true,
    source: "exact",
    before: exact.value,
    after: own.value,
    moves: own.moves,
    bestMoves: exact.moves,
    best: exact.best,
    loss: exact.value - own.value,
  };
}

function judgeBySearch({ values, move }, action) {
  const [before, after] = [values[move], values[action]];
  return { isKnown: true, isExact: false, before, after, best: [move], loss: before - after };
}

// The judgement of a move in a game that the proof of an agent decides: `isWinners` says that the
// move is the agent's, `origin` where the proof is from, as `knownOf` of a Grades has it.
export function judgeByProof({ isWinners, origin }, action) {
  const value = isWinners ? 1 : -1;
  const source = origin === "file" ? "proven by the agent's file" : "proven";
  const result = { before: value, after: value, loss: 0, best: [action] };
  return { isKnown: true, isExact: true, source, moves: null, bestMoves: null, ...result };
}

// The mark of a move that gave something away: { sign, text }, or null.
export function markOf(judged) {
  if (!judged?.isKnown) return null;
  const { isExact, before, after, loss } = judged;
  if (isExact) {
    if (loss === 0) return null;
    const { sign, word } = loss === 2 ? BLUNDER : MISTAKE;
    return { sign, text: `${word}: from a ${outcomeWord(before)} to a ${outcomeWord(after)}` };
  }
  if (loss < MISTAKE_LOSS) return null;
  const { sign, word } = loss < BLUNDER_LOSS ? MISTAKE : BLUNDER;
  const text = `${word} by the agent's search: from ${signed(before)} to ${signed(after)}`;
  return { sign, text };
}

// What a move without a mark did, in words.
export function verdictOf(judged, action) {
  if (!judged) return "";
  if (!judged.isKnown) return "not known: too many moves are left, and no agent is loaded";
  const { isExact, after, moves, bestMoves, best } = judged;
  if (!isExact) return `worth ${signed(after)} by the agent's search`;
  if (after === 0) return "keeps the draw";
  const isBest = best.includes(action);
  if (moves === null) return after > 0 ? "wins" : "loses, as every move";
  if (after > 0) return isBest ? `wins in ${inMoves(moves)}` : `still wins, in ${inMoves(moves)}`;
  if (bestMoves === null) return `loses in ${inMoves(moves)}; others lose later`;
  if (isBest) return `every move loses; this one lasts longest, ${inMoves(moves)}`;
  return `loses in ${inMoves(moves)}; ${inMoves(bestMoves)} were possible`;
}

// How many of a side's moves were best, of those with an exact result. In a lost position no move
// is best, so these are not counted. `sides` has the mover of each move.
export function summary(judgements, sides, side) {
  if (judgements.includes(null)) return "Comparing the moves…";
  const own = judgements.filter((_, ply) => sides[ply] === side);
  const solved = own.filter(({ isKnown, isExact }) => isKnown && isExact);
  const open = solved.filter(({ before }) => before >= 0);
  const best = open.filter(({ loss }) => loss === 0);
  const [lost, unsolved] = [solved.length - open.length, own.length - solved.length];
  if (solved.length === 0) return `The result of your ${counted(unsolved, "move")} is not known.`;
  let text = `In a lost position: ${counted(lost, "move")} of yours`;
  if (open.length > 0) {
    text = `Best moves: ${best.length} of ${open.length}`;
    if (lost) text += `, and ${lost} more in a lost position`;
  }
  if (unsolved) text += `; the result of ${unsolved} more is not known`;
  return `${text}.`;
}

// The judgements of moves. They arrive one by one.
export class Review {
  constructor(engine) {
    this.engine = engine;
    this.results = new Resource(); // exact ones, or null, by position
    this.searches = new Resource(); // by position and agent
    this.queue = /** @type {Promise<unknown>} */ (Promise.resolve());
  }

  // The judgements of a game's moves: one for each, null where it has not arrived. `agent`
  // is the loaded agent that searches where a position is not solved; null for none.
  judgementsOf({ rules, moves, positions }, agent) {
    return moves.map((action, ply) => this.judgement(rules, positions[ply], action, agent));
  }

  judgement(rules, position, action, agent) {
    const { envId } = rules;
    const place = `${envId}|${rules.key(position)}`;
    const solve = () => this.after(() => this.engine.exact({ envId, position, seconds: SECONDS }));
    const { value: exact } = this.results.get(place, solve);
    if (exact === undefined) return null;
    if (exact !== null) return judgeExactly(exact, action);
    if (agent === null) return NOT_KNOWN;
    const search = () => this.engine.values({ envId, agent, position, depth: DEPTH });
    const { value: searched } = this.searches.get(`${place}|${agent.key}`, search);
    return searched === undefined ? null : judgeBySearch(searched, action);
  }

  // One exact result after another, so that the position on the board need not wait for all.
  after(load) {
    const loading = this.queue.then(load);
    this.queue = loading.catch(() => {});
    return loading;
  }
}
