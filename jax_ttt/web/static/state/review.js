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
    this.judgements = new Resource(); // by move, and where they are not exact also by agent
    this.queue = /** @type {Promise<unknown>} */ (Promise.resolve());
  }

  // The judgements of a game's moves: one for each, null where it has not arrived. `agent`
  // is the loaded agent that searches where a position is not solved; null for none.
  judgementsOf(game, agent) {
    return game.moves.map((action, ply) => this.judgement(game, ply, action, agent));
  }

  judgement({ rules, positions }, ply, action, agent) {
    const move = [rules.envId, rules.key(positions[ply]), action].join("|");
    const exact = this.judgements.known(move);
    if (exact) return exact;
    const judge = async () => {
      const judged = await this.judge(rules, positions[ply], action, agent);
      if (judged.isExact) this.judgements.set(move, judged);
      return judged;
    };
    const load = () => {
      const judging = this.queue.then(judge);
      this.queue = judging.catch(() => {});
      return judging;
    };
    return this.judgements.get(`${move}|${agent?.key}`, load).value ?? null;
  }

  async judge(rules, position, action, agent) {
    const { envId } = rules;
    const exact = await this.engine.exact({ envId, position, seconds: SECONDS });
    if (exact !== null) return judgeExactly(exact, action);
    if (agent === null) return NOT_KNOWN;
    const values = await this.engine.values({ envId, agent, position, depth: DEPTH });
    return judgeBySearch(values, action);
  }
}
