// What the part "Compare two agents" shows: two agents of the open game, on the position of the board.

import { readTab, writeTab } from "../files/storage.js";
import { versionOf } from "./agents.js";
import { LINE_LENGTH } from "./board_values.js";
import { outcomeWord } from "./review.js";
import { signed } from "./words.js";

const NAMES = ["A", "B"];
const MAX_FILES = 16; // that are kept

export class Comparison {
  constructor(app) {
    this.app = app;
    this.chosen = new Map(); // by game, what the person chose: [{ id, update } or null, the same]
    this.files = new Map(); // by version and update: { loaded (null until it is there), error }
  }

  // What is compared in the open game, [{ id, update }, { id, update }], where `update` is null
  // for the latest. By default, the selected agent and another one.
  get choices() {
    const { entries, agent, update } = this.app.selection;
    const [a, b] = this.chosenHere.map((choice) => (this.isThere(choice) ? choice : null));
    const selected = { id: agent?.id, update };
    const first = a ?? (this.isThere(selected) ? selected : { ...selected, update: null });
    const other = entries.find(({ id }) => id !== first.id) ?? agent;
    return [first, b ?? { id: other?.id, update: null }];
  }

  get chosenHere() {
    const { envId } = this.app.rules;
    if (!this.chosen.has(envId)) {
      this.chosen.set(envId, readTab(`compare.${envId}`, [null, null]));
    }
    return this.chosen.get(envId);
  }

  // Whether there is such an agent of the open game, and such a snapshot of it.
  isThere(choice) {
    const entry = this.app.selection.entries.find(({ id }) => id === choice?.id);
    return Boolean(entry) && (choice.update === null || entry.snapshots.includes(choice.update));
  }

  // Choose both, each { id, update }.
  choose(...choices) {
    const { envId } = this.app.rules;
    this.chosen.set(envId, choices);
    writeTab(`compare.${envId}`, choices);
    for (const [key, { error }] of this.files) if (error) this.files.delete(key);
    this.app.changed();
  }

  // Choose one of the two: `place` is 0 or 1.
  chooseOne(place, choice) {
    this.choose(...this.choices.map((before, i) => (i === place ? choice : before)));
  }

  // Compare two agents in the tab.
  open(...choices) {
    this.choose(...choices);
    this.app.openPanel("compare");
  }

  // ---- files

  keyOf({ id, update }) {
    return `${versionOf(this.app.agents.get(id)) ?? id}|${update}`;
  }

  fileOf(choice) {
    const key = this.keyOf(choice);
    if (!this.files.has(key)) {
      const [oldest] = this.files.keys();
      if (this.files.size >= MAX_FILES) this.files.delete(oldest);
      this.files.set(key, { loaded: null, error: "" });
      this.read(key, choice);
    }
    return this.files.get(key);
  }

  async read(key, { id, update }) {
    const loadedBefore = () => this.files.get(key)?.loaded ?? null;
    try {
      const loaded = await this.app.agents.load(id, update);
      // Replies may come in another order.
      const isOlder = loaded.file.updates < loadedBefore()?.file.updates;
      if (!isOlder) this.files.set(key, { loaded, error: "" });
    } catch (error) {
      if (loadedBefore() === null) this.files.set(key, { loaded: null, error: error.message });
    }
    this.app.changed();
  }

  // Load an agent again, which has learned.
  reload(id) {
    const latest = { id, update: null };
    const key = this.keyOf(latest);
    if (!this.files.has(key)) return;
    if (this.app.settings.panel === "compare") this.read(key, latest);
    else this.files.delete(key);
  }

  // ---- what is shown

  // Both agents: { name, entry, update, error, answer, line }. `answer` is as `values` of an
  // Engine returns it, null before it is there; `line` are the agent's next moves for both sides.
  sides() {
    const { agents, engine, rules, play, shown } = this.app;
    const { position } = play.game;
    return this.choices.map((choice, i) => {
      const name = NAMES[i];
      const side = { name, ...choice, entry: agents.get(choice.id), answer: null, line: [] };
      if (side.entry === null) return { ...side, error: "" };
      const { loaded, error } = this.fileOf(choice);
      if (loaded === null || rules.isOver(position)) return { ...side, error };
      const { boardValues } = shown;
      const request = { rules, position, agent: loaded, depth: 0 };
      const next = { ...request, length: LINE_LENGTH };
      const answer = boardValues.learned(`${name} values`, request, (one) => engine.values(one));
      const line = boardValues.learned(`${name} line`, next, (one) => engine.line(one));
      return { ...side, error, answer: answer ?? null, line: line ?? [] };
    });
  }

  // The exact results of the moves, as `exactCells` of a BoardValues returns them.
  exact() {
    const { rules, play, shown } = this.app;
    const { position } = play.game;
    if (rules.isOver(position)) return new Map();
    return shown.boardValues.exactCells(rules, position, shown.proof);
  }

  // Where the two differ, in a sentence; empty until it is known.
  text() {
    const { rules, play } = this.app;
    const { position } = play.game;
    if (rules.isOver(position)) return "The game is over here. Step back to compare the moves.";
    const sides = this.sides();
    const problem = sides.find(({ error }) => error);
    if (problem) return `${problem.name} could not be loaded: ${problem.error}`;
    const [a, b] = sides;
    if (!a.answer || !b.answer) return a.entry ? "Computing…" : "";
    if (this.keyOf(a) === this.keyOf(b)) {
      return `A and B are the same agent. ${movesText(rules, position, sides, this.exact())}`;
    }
    return movesText(rules, position, sides, this.exact());
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
