// What the part "Compare two agents" shows: two agents of the open game, on the position of the board.

import { readTab, writeTab } from "../files/storage.js";
import { observe } from "./observe.js";
import { outcomeWord } from "./review.js";
import { signed } from "./words.js";

const NAMES = ["A", "B"];

export class Comparison {
  agents; engine; play; selection; settings; shown;
  chosen = {}; // by game, what the person chose: [{ id, update } or null, the same]

  constructor({ agents, engine, play, selection, settings, shown }) {
    Object.assign(this, { agents, engine, play, selection, settings, shown });
    observe(this, "chosen");
  }

  // What is compared in the open game, [{ id, update }, { id, update }], where `update` is null
  // for the latest. By default, the selected agent and another one.
  get choices() {
    const { entries, agent, update } = this.selection;
    const [a, b] = this.chosenHere.map((choice) => (this.isThere(choice) ? choice : null));
    const selected = { id: agent?.id, update };
    const first = a ?? (this.isThere(selected) ? selected : { ...selected, update: null });
    const other = entries.find(({ id }) => id !== first.id) ?? agent;
    return [first, b ?? { id: other?.id, update: null }];
  }

  get chosenHere() {
    const { envId } = this.settings.rules;
    return this.chosen[envId] ?? readTab(`compare.${envId}`, [null, null]);
  }

  // Whether there is such an agent of the open game, and such a snapshot of it.
  isThere(choice) {
    const entry = this.selection.entries.find(({ id }) => id === choice?.id);
    return Boolean(entry) && (choice.update === null || entry.snapshots.includes(choice.update));
  }

  // Choose both, each { id, update }.
  choose(...choices) {
    const { envId } = this.settings.rules;
    this.chosen = { ...this.chosen, [envId]: choices };
    writeTab(`compare.${envId}`, choices);
  }

  // Choose one of the two: `place` is 0 or 1.
  chooseOne(place, choice) {
    this.choose(...this.choices.map((before, i) => (i === place ? choice : before)));
    this.agents.load(choice.id, choice.update).catch(() => {}); // again, if it failed; `sides` says it
  }

  // Compare two agents in the tab.
  open(...choices) {
    this.choose(...choices);
    this.play.openPanel("compare");
  }

  // ---- what is shown

  // Both agents: { name, entry, update, error, answer, layers, line }. `answer` is as `values` of an
  // Engine returns it, null before it is there; `layers` are the exact values and the agent's as
  // the board shows them, and `line` are the agent's next moves for both sides.
  sides() {
    const { agents, engine, shown } = this;
    const { rules, position } = this.play.game;
    return this.choices.map((choice, i) => {
      const name = NAMES[i];
      const side = { name, ...choice, entry: agents.get(choice.id), answer: null };
      const none = { ...side, layers: [], line: [] };
      if (side.entry === null) return { ...none, error: "" };
      const { value: loaded = null, error: failure } = agents.shown(choice.id, choice.update);
      const error = loaded === null ? (failure?.message ?? "") : "";
      if (loaded === null || rules.isOver(position)) return { ...none, error };
      const { boardValues, proof } = shown;
      const request = { rules, position, agent: loaded, depth: 0 };
      const { kind } = side.entry;
      const answer = boardValues.learned(kind, request, (values) => engine.values(values)) ?? null;
      const shownLayers = { rules, position, withExact: true, agents: { [kind]: loaded }, depth: 0 };
      const layers = boardValues.layers({ ...shownLayers, proof });
      return { ...side, error, answer, layers, line: boardValues.line(request) };
    });
  }

  // The exact results of the moves, as `exactCells` of a BoardValues returns them.
  exact() {
    const { rules, position } = this.play.game;
    const { shown } = this;
    if (rules.isOver(position)) return new Map();
    return shown.boardValues.exactCells(rules, position, shown.proof);
  }

  // Where the two differ, in a sentence; empty until it is known. `sides` and `exact` are what the
  // functions of these names return.
  text(sides, exact) {
    const { rules, position } = this.play.game;
    if (rules.isOver(position)) return "The game is over here. Step back to compare the moves.";
    const problem = sides.find(({ error }) => error);
    if (problem) return `${problem.name} could not be loaded: ${problem.error}`;
    const [a, b] = sides;
    if (!a.answer || !b.answer) return a.entry ? "Computing…" : "";
    const text = movesText(rules, position, sides, exact);
    const isSame = a.id === b.id && a.update === b.update;
    return isSame ? `A and B are the same agent. ${text}` : text;
  }
}

// The moves of two agents, in words: `sides` have { name, answer: { move, values } }, `exact` is a
// Map by action of { value }, without a value where it is not known.
export function movesText(rules, position, sides, exact) {
  const [a, b] = sides.map(({ answer }) => answer.move);
  const values = sides.map(({ answer: { move, values: all } }) => signed(all[move]));
  const results = resultsText(rules, position, [a, b], exact);
  if (a === b) {
    return `Both play ${rules.actionName(a)} (A ${values[0]}, B ${values[1]}). ${results}`;
  }
  const { places } = rules.canonical(position);
  const how = places[a] === places[b] ? "the same move on mirrored boards" : "different moves";
  const [nameA, nameB] = [a, b].map((move) => rules.actionName(move));
  return `They play ${how}: A ${nameA} (${values[0]}), B ${nameB} (${values[1]}). ${results}`;
}

// What the two moves make of the exact result.
function resultsText(rules, position, [a, b], exact) {
  const values = rules.legal(position).map((action) => exact.get(action)?.value);
  const known = values.filter((value) => value !== undefined);
  const isBestKnown = known.length === values.length || known.includes(1);
  const best = isBestKnown ? Math.max(...known) : null;
  const [one, other] = [a, b].map((action) => exact.get(action)?.value);
  if (one === undefined && other === undefined) return "The exact result is not known here.";
  if (best === -1) return "Exact: each move loses.";
  const isSame = one === other;
  if (isSame) return `Exact: ${a === b ? "it" : "both"} ${resultText(one, best, a !== b)}.`;
  return `Exact: A ${resultText(one, best)}, B ${resultText(other, best)}.`;
}

// What a move with an exact value does; `best` is the best value, or null if it is not known.
function resultText(value, best, arePlural = false) {
  const s = arePlural ? "" : "s";
  if (value === undefined) return arePlural ? "are not known" : "is not known";
  if (best === null) return value === 0 ? `draw${s}` : `lose${s}`;
  if (value === best) return `keep${s} the ${outcomeWord(best)}`;
  return `give${s} the ${outcomeWord(best)} away: a ${outcomeWord(value)}`;
}
