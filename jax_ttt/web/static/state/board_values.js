// What the board shows besides the stones: the values of moves, in layers, and a hint.

import { highestOf } from "../engine/players.js";
import { LETTERS } from "../engine/rules.js";
import { decideAtOnce } from "../engine/solver.js";
import { Resource } from "./resource.js";
import { inMoves, outcomeWord } from "./review.js";
import { signed, spoken } from "./words.js";

const EXACT_SECONDS = 2; // for the values on the board
const HINT_DEPTH = 6; // moves that a hint looks ahead where the position is not solved
const HINT_SECONDS = 0.5; // for the exact result, before the agent searches
export const LINE_LENGTH = 4; // moves of a line of arrows
const CORRECTED = "corrected"; // the mark of a move that is a correction
const TONES = { win: "good", draw: "even", loss: "bad" };

const NOT_KNOWN = { text: "–", tone: "even", spoken: "exact result not known" };

// The exact results of moves, with their `value`; those of `open` are not known and have none.
function resultCells(actions, open = []) {
  const cells = new Map(open.map((action) => [action, NOT_KNOWN]));
  for (const { action, value, moves } of actions) {
    const word = outcomeWord(value);
    const hasMoves = value !== 0 && moves !== null;
    cells.set(action, {
      value,
      text: hasMoves ? `${word} ${moves}` : word,
      tone: TONES[word],
      spoken: hasMoves ? `exact ${word} in ${inMoves(moves)}` : `exact ${word}`,
    });
  }
  return cells;
}

// The results of the moves in a position that a side wins by an agent's proof: all moves of
// its opponent lose, and the agent's move wins. Others are not known, but `decided` ones.
function provenCells(rules, position, decided, { side, origin, move }) {
  const legal = rules.legal(position);
  const isWinners = rules.toMove(position) === side;
  const cells = resultCells(decided, legal);
  const word = isWinners ? "win" : "loss";
  for (const action of isWinners ? [move] : legal) {
    if (decided.some((one) => one.action === action)) continue;
    const source = origin === "file" ? "proven by the agent's file" : "proven";
    const value = isWinners ? 1 : -1;
    cells.set(action, { value, text: word, tone: TONES[word], spoken: `${word}, ${source}` });
  }
  return cells;
}

// What `provenWinner` of a BoardValues says, in a sentence; empty for null and undefined.
export function provenText(proof) {
  if (!proof) return "";
  const source = proof.origin === "file" ? "proven by the agent's file" : "proven";
  const letter = LETTERS[proof.side];
  return `${letter} wins, ${source}: each move of ${letter} in this game was the agent's.`;
}

function learnedCells(layer, { values, move, isCorrected }) {
  const cells = new Map();
  values.forEach((value, action) => {
    if (Number.isNaN(value)) return;
    const isOwnMove = action === move;
    const note = isOwnMove && isCorrected ? CORRECTED : "";
    const parts = [`${layer} ${spoken(value)}`];
    if (isOwnMove) parts.push("the agent's move");
    if (note) parts.push(note);
    cells.set(action, {
      value,
      text: signed(value),
      tone: isOwnMove ? "own" : "even",
      note,
      spoken: parts.join(", "),
    });
  });
  return cells;
}

// The answers of the engine, by the request; each is loaded when it is first asked for.
export class BoardValues {
  constructor(engine) {
    this.engine = engine;
    this.answers = new Resource();
  }

  // The answer to a request that `send()` makes, undefined until it arrives, and null where
  // there is none.
  answer(key, send) {
    const { value, error } = this.answers.get(key, send);
    return error === null ? value : null;
  }

  exact(rules, position) {
    const request = { envId: rules.envId, position, seconds: EXACT_SECONDS, latest: true };
    const key = `exact|${rules.envId}|${rules.key(position)}`;
    return this.answer(key, () => this.engine.exact(request));
  }

  // What an agent says of a position by `send(request)`, for a layer. Of an agent that learns,
  // the answer before stays until a new one is there.
  learned(layer, { rules, position, agent, depth, ...options }, send) {
    const game = `${depth}|${rules.envId}|${rules.key(position)}`;
    const key = `${layer}|${agent.id}|${agent.update}|${game}`;
    const load = () => send({ envId: rules.envId, agent, position, depth, ...options });
    return this.answers.get(key, load, agent.key).value;
  }

  // Who wins a game with these moves by the proof of a loaded agent, which wins every game on a
  // side: all moves of that side were the agent's. { side, origin (of the proof: "file" or
  // "browser"), move (the agent's next one, null at its opponent's turn) }; null if no side
  // has played so, undefined until it is known. `sides` is what `provenSides` of a Grades
  // returns for the agent.
  provenWinner({ rules, moves, agent, sides }) {
    let winner = null;
    for (const { side, goal, origin } of sides) {
      if (goal !== "win") continue;
      const { envId } = rules;
      const key = ["moves", agent.key, side, envId, ...moves].join("|");
      const answer = this.answer(key, () => this.engine.agentMoves({ envId, agent, moves, side }));
      if (answer === undefined) winner = undefined;
      else if (answer?.areAgents.every((isAgents) => isAgents)) {
        return { side, origin, move: answer.move };
      }
    }
    return winner;
  }

  // The layers of values of the position: [{ layer, values: Map by action, isCorrected }]. `agents`
  // has the loaded agent for each kind that is shown, or null; exact values come first. `proof` is
  // what `provenWinner` returns for the game.
  layers({ rules, position, withExact, agents, depth, proof = null }) {
    if (rules.isOver(position)) return [];
    const layers = [];
    if (withExact) {
      const cells = this.exactCells(rules, position, proof);
      if (cells.size > 0) layers.push({ layer: "exact", values: cells });
    }
    for (const [layer, agent] of Object.entries(agents)) {
      if (agent === null) continue;
      const request = { rules, position, agent, depth };
      const answer = this.learned(layer, request, (values) => this.engine.values(values));
      if (!answer) continue;
      layers.push({ layer, values: learnedCells(layer, answer), isCorrected: answer.isCorrected });
    }
    return layers;
  }

  // The next moves of an agent that plays both sides: actions, empty until they are known.
  line({ rules, position, agent, depth }) {
    if (agent === null || rules.isOver(position)) return [];
    const request = { rules, position, agent, depth, length: LINE_LENGTH };
    return this.learned("line", request, (line) => this.engine.line(line)) ?? [];
  }

  // The exact results of the moves. Where there is no solution, those of the moves that
  // decide the game at once are known all the same, and those of a proof.
  exactCells(rules, position, proof = null) {
    const exact = this.exact(rules, position);
    if (exact) return resultCells(exact.actions);
    const decided = decideAtOnce(rules, position);
    if (exact === null && proof) return provenCells(rules, position, decided, proof);
    const isOpen = exact === null && decided.length > 0;
    return resultCells(decided, isOpen ? rules.legal(position) : []);
  }

  // What is known of the exact result: "known", "searching", "proven" (by an agent's proof:
  // `proof` is what `provenWinner` returns), "partly known" or "not known".
  exactState(rules, position, proof = null) {
    if (rules.isOver(position)) return "known";
    const exact = this.exact(rules, position);
    if (exact === undefined) return "searching";
    if (exact !== null) return "known";
    if (proof) return "proven";
    return decideAtOnce(rules, position).length > 0 ? "partly known" : "not known";
  }

  // What an agent values the moves at, without a search: { values, isTable }; null without one.
  async learnedValues(rules, position, agent) {
    if (agent === null) return null;
    const { values } = await this.engine.values({ envId: rules.envId, agent, position });
    return { values, isTable: agent.file.kind === "table" };
  }

  // One good move and the reason for it: { action, reason }.
  async hint({ rules, position, agent }) {
    const { envId } = rules;
    const exact = await this.engine.exact({ envId, position, seconds: HINT_SECONDS });
    if (exact !== null) {
      const hint = chooseHint(exact, await this.learnedValues(rules, position, agent));
      return { action: hint.action, reason: hintReason(rules, exact, hint) };
    }
    if (agent === null) throw new Error("The agent is not loaded yet. Try again in a moment.");
    const request = { envId, agent, position, depth: HINT_DEPTH };
    const { values, move, isCorrected } = await this.engine.values(request);
    const value = `${signed(values[move])}, the highest value`;
    const reason = isCorrected
      ? "the correction of the agent's move"
      : `${value} of the agent's search ${HINT_DEPTH} moves ahead`;
    return { action: move, reason: `${rules.actionName(move)}: ${reason}` };
  }
}

// The move that a hint names, { action, asGood }, as `suggest_move` of
// text/dialogue_advice.py: one that keeps the exact result, and wins soonest or loses
// latest, as far as this is known; of several, the one with the agent's highest value. `asGood`
// are the other moves that keep the result. `learned` has the agent's { values, isTable }, or is null.
export function chooseHint(exact, learned) {
  const [action] = learned
    ? highestOf(exact.best, learned.values, learned.isTable)
    : exact.best;
  const keeping = exact.actions.filter(({ value }) => value === exact.value);
  const asGood = keeping.map((one) => one.action).filter((other) => other !== action);
  return { action, asGood };
}

// A hint in words, with the same cases as `hint_line` of text/dialogue_advice.py.
function hintReason(rules, exact, { action, asGood }) {
  const name = rules.actionName(action);
  const verb = { win: "wins", draw: "draws", loss: "loses" }[outcomeWord(exact.value)];
  const hasMoves = exact.value !== 0 && exact.moves !== null;
  const result = hasMoves ? `${verb} in ${inMoves(exact.moves)}` : verb;
  if (exact.actions.length === 1) return `${name} is the only move; it ${result}`;
  if (exact.value < 0 && !hasMoves) return `${name} is a guess: with best play, each move loses`;
  if (exact.value < 0) {
    return `${name} holds out longest: each move loses, this one in ${inMoves(exact.moves)}`;
  }
  if (asGood.length === exact.actions.length - 1) {
    return `${name} ${result}; with best play, each move ${verb}`;
  }
  if (asGood.length === 0) return `${name} ${result}; no other move does`;
  if (asGood.length > 2) return `${name} ${result}; so do ${asGood.length} other moves`;
  const names = asGood.map((other) => rules.actionName(other)).join(" and ");
  return `${name} ${result}; ${names} ${asGood.length === 1 ? verb : verb.slice(0, -1)}, too`;
}
