// What the person selected for the open game: the level, the side and the learned agent, and the
// agents whose values are shown.

import { levelsOf } from "./levels.js";
import { say } from "./messages.js";
import { observe } from "./observe.js";
import { number } from "./words.js";
import { effect } from "../vendor/preact.js";

export const KINDS = ["network", "table"]; // of learned agents

export class Selection {
  settings; agents;
  snapshot = null; // the chosen snapshot of an agent, { id, update }; null: its latest

  constructor({ settings, agents }) {
    Object.assign(this, { settings, agents });
    observe(this, "snapshot");
    let lastProblem = "";
    effect(() => {
      const { error } = this.file;
      const problem = error ? `${this.agent.id}: ${error.message}` : "";
      if (error && problem !== lastProblem) say(error.message);
      lastProblem = problem; // a load that is tried again says the same
    });
  }

  // The choices for the open game: { level, side, agent, depth }.
  get choices() {
    const { choices, rules } = this.settings;
    const level = levelsOf(rules).includes(choices.level) ? choices.level : "full";
    return { ...choices, level };
  }

  // The agents of the open game.
  get entries() {
    return this.agents.for(this.settings.rules.envId);
  }

  // Whether the open game has an agent of this id.
  has(id) {
    return this.entries.some((entry) => entry.id === id);
  }

  // The selected agent, or null if the game has none.
  get agent() {
    const { choices, entries } = this;
    return entries.find(({ id }) => id === choices.agent) ?? entries[0] ?? null;
  }

  // The update of the selected agent; null where it is the latest, or the chosen one is gone.
  get update() {
    const { agent, snapshot } = this;
    const isChosen = snapshot !== null && snapshot.id === agent?.id;
    return isChosen && agent.snapshots.includes(snapshot.update) ? snapshot.update : null;
  }

  // The selected agent in words; empty if there is none.
  get title() {
    return this.agent ? this.titleOf(this.agent.id, this.update) : "";
  }

  titleOf(id, update) {
    const title = this.agents.get(id)?.title ?? "an agent that is gone";
    return update === null ? title : `${title} at update ${number(update)}`;
  }

  // Select an agent as it was at an update; null is its latest.
  select(id, update = null) {
    this.settings.choose({ agent: id });
    this.snapshot = update === null ? null : { id, update };
  }

  // The opponent that is chosen, as an Opponent takes its choices.
  get opponent() {
    const { agent, choices, title, update } = this;
    const { level, depth } = choices;
    return { level, agent: agent?.id ?? null, update, depth, name: title };
  }

  // ---- loaded files

  get file() {
    const { agent, update } = this;
    return agent === null ? { value: null, error: null } : this.agents.shown(agent.id, update);
  }

  // The selected agent, loaded, for its values and its proof; null before it is there.
  get loaded() {
    return this.file.value ?? null;
  }

  // The kinds of learned agents of this game: "network", "table".
  get kinds() {
    const kinds = new Set(this.entries.map(({ kind }) => kind));
    return KINDS.filter((kind) => kinds.has(kind));
  }

  // The agent whose values of a kind are shown: the selected one, or the first of the kind.
  agentOfKind(kind) {
    if (this.agent?.kind === kind) return { entry: this.agent, loaded: this.loaded };
    const entry = this.entries.find((agent) => agent.kind === kind);
    return { entry, loaded: (entry && this.agents.shown(entry.id).value) ?? null };
  }
}
