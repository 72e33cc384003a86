// What the board shows besides the stones: the values of moves, in layers, and a hint.

import { highestOf } from "./players.js";
import { inMoves, keepNewest, outcomeWord } from "./review.js";
import { decideAtOnce } from "./search.js";
import { signed, spoken } from "./ui.js";

const EXACT_SECONDS = 2; // for the values on the board
const HINT_DEPTH = 6; // moves that a hint looks ahead where the position is not solved
const HINT_SECONDS = 0.5; // for the exact result, before the agent searches
const TONES = { win: "good", draw: "even", loss: "bad" };

const NOT_KNOWN = { text: "–", tone: "even", spoken: "exact result not known" };

// The exact results of moves; those of `open` are not known.
function exactCells(actions, open = []) {
  const cells = new Map(open.map((action) => [action, NOT_KNOWN]));
  for (const { action, value, moves } of actions) {
    const word = outcomeWord(value);
    const isDecided = value !== 0;
    cells.set(action, {
      text: isDecided ? `${word} ${moves}` : word,
      tone: TONES[word],
      spoken: isDecided ? `exact ${word} in ${inMoves(moves)}` : "exact draw",
    });
  }
  return cells;
}

function learnedCells(layer, { values, move }) {
  const cells = new Map();
  values.forEach((value, action) => {
    if (Number.isNaN(value)) return;
    const isOwnMove = action === move;
    cells.set(action, {
      text: signed(value),
      tone: isOwnMove ? "own" : "even",
      spoken: `${layer} ${spoken(value)}${isOwnMove ? ", the agent's move" : ""}`,
    });
  });
  return cells;
}

// The newest answers of the engine, by the request. A missing one is requested, and
// `changed()` is called when it arrives.
export class BoardValues {
  constructor({ engine, changed }) {
    Object.assign(this, { engine, changed });
    this.answers = new Map();
    this.shown = new Map(); // by layer, the answer that was shown last and its place
  }

  // The answer to the request that `send()` makes, undefined until it arrives, and null
  // where there is none.
  answer(key, send) {
    if (!this.answers.has(key)) {
      keepNewest(this.answers, key, undefined);
      const arrived = (answer) => {
        this.answers.set(key, answer);
        this.changed();
      };
      send().then(arrived, (error) => {
        // A replaced request is sent again when the position is shown again.
        if (error.name === "AbortError") this.answers.delete(key);
        else arrived(null);
      });
    }
    return this.answers.get(key);
  }

  exact(rules, position) {
    const request = { envId: rules.envId, position, seconds: EXACT_SECONDS, latest: true };
    const key = `exact|${rules.envId}|${rules.key(position)}`;
    return this.answer(key, () => this.engine.exact(request));
  }

  values(rules, position, agent, depth) {
    const request = { envId: rules.envId, agent, position, depth };
    const key = `${agent.key}|${depth}|${rules.envId}|${rules.key(position)}`;
    return this.answer(key, () => this.engine.values(request));
  }

  // The layers of values of the position: [{ layer, values: Map by action }]. `agents`
  // has the loaded agent for each kind that is shown, or null; exact values come first.
  layers({ rules, position, withExact, agents, depth }) {
    if (rules.isOver(position)) return [];
    const layers = [];
    if (withExact) {
      const cells = this.exactCells(rules, position);
      if (cells.size > 0) layers.push({ layer: "exact", values: cells });
    }
    for (const [layer, agent] of Object.entries(agents)) {
      if (agent === null) continue;
      const place = [agent.id, agent.update, depth, rules.envId, rules.key(position)].join("|");
      let answer = this.values(rules, position, agent, depth);
      // The values of an agent that learns stay until its new ones are there.
      const shown = this.shown.get(layer);
      if (answer === undefined && shown?.place === place) ({ answer } = shown);
      if (!answer) continue;
      this.shown.set(layer, { place, answer });
      layers.push({ layer, values: learnedCells(layer, answer) });
    }
    return layers;
  }

  // The exact results of the moves. Where there is no solution, those of the moves that
  // decide the game at once are known all the same.
  exactCells(rules, position) {
    const exact = this.exact(rules, position);
    if (exact) return exactCells(exact.actions);
    const decided = decideAtOnce(rules, position);
    const isOpen = exact === null && decided.length > 0;
    return exactCells(decided, isOpen ? rules.legal(position) : []);
  }

  // What is known of the exact result: "known", "searching", "partly known" or "not known".
  exactState(rules, position) {
    if (rules.isOver(position)) return "known";
    const exact = this.exact(rules, position);
    if (exact === undefined) return "searching";
    if (exact !== null) return "known";
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
    const { values, move } = await this.engine.values(request);
    const value = `${signed(values[move])}, the highest value`;
    return {
      action: move,
      reason: `${rules.actionName(move)}: ${value} of the agent's search ${HINT_DEPTH} moves ahead`,
    };
  }
}

// The move that a hint names, { action, asGood }, as `suggest_move` of
// text/dialogue_advice.py: one that keeps the exact result, and wins soonest or loses
// latest; of several, the one with the agent's highest value. `asGood` are the other moves
// that keep the result. `learned` has the agent's { values, isTable }, or is null.
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
  const result = exact.value === 0 ? verb : `${verb} in ${inMoves(exact.moves)}`;
  if (exact.actions.length === 1) return `${name} is the only move; it ${result}`;
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
