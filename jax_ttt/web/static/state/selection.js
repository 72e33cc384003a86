// What the person selected: the level, the side and the learned agent, and the files of the
// agents whose values are shown.

import { latest } from "./latest.js";
import { isLevel, levelsOf } from "./levels.js";
import { say } from "./messages.js";
import { number } from "./words.js";

export class Selection {
  constructor(app) {
    this.app = app;
    this.update = null; // number of updates of the selected agent; null: the latest
    this.loaded = null; // the selected agent's file, once it is there
    this.others = new Map(); // by id, loaded agents whose values are shown, too
    this.isReading = false; // whether `reload` waits for a file
    this.isOutdated = false; // whether the selected agent learned since it was read
    this.loadSelected = latest(
      () => this.readSelected(),
      (loaded) => {
        this.loaded = loaded;
        app.changed();
      },
    );
  }

  // The choices for the open game: { level, side, agent, depth }.
  get choices() {
    const { settings, rules } = this.app;
    const choices = settings.choicesFor(rules.envId);
    const level = levelsOf(rules).includes(choices.level) ? choices.level : "full";
    return { ...choices, level };
  }

  // The agents of the open game.
  get entries() {
    return this.app.agents.for(this.app.rules.envId);
  }

  // Whether the open game has an agent of this id.
  has(id) {
    return this.entries.some((entry) => entry.id === id);
  }

  // The selected agent, or null if the game has none.
  get agent() {
    const { entries } = this;
    return entries.find(({ id }) => id === this.choices.agent) ?? entries[0] ?? null;
  }

  // The selected agent in words; empty if there is none.
  get title() {
    return this.agent ? this.titleOf(this.agent.id, this.update) : "";
  }

  titleOf(id, update) {
    const title = this.app.agents.get(id)?.title ?? "an agent that is gone";
    return update === null ? title : `${title} at update ${number(update)}`;
  }

  // Choose a level, side, agent or depth of search. A new game begins at once, unless one
  // would be lost by it.
  choose(choices) {
    const { settings, rules, play } = this.app;
    settings.choose(rules.envId, choices);
    if ("agent" in choices) this.update = null;
    if (play.analysis) play.keepGame(play.game);
    else if (!play.isUnderWay) play.newGame();
    this.load();
    this.app.changed();
  }

  // Take over the choices of a link. An analysis has neither a side nor a level.
  chooseAsLinked({ side, level, agent, update }) {
    const { settings, rules } = this.app;
    const choices = {};
    if (side !== null && level !== "analysis") choices.side = side;
    if (isLevel(level)) choices.level = level;
    if (this.has(agent)) choices.agent = agent;
    settings.choose(rules.envId, choices);
    if (this.has(agent)) this.update = update;
  }

  // Select an agent as it was at an update; null is its latest.
  select(id, update = null) {
    const { settings, rules, play } = this.app;
    settings.choose(rules.envId, { agent: id });
    this.update = update;
    if (play.analysis) play.keepGame(play.game);
    else if (!play.game.isDemo && !play.game.hasBegun) play.newGame();
    this.load();
    this.app.changed();
  }

  // Where the selected agent or its snapshot is gone, go on with what is there.
  settle() {
    const { agent, loaded, update } = this;
    const isGone = loaded !== null && loaded.id !== agent?.id;
    const isStale = update !== null && agent !== null && !agent.snapshots.includes(update);
    if (!isGone && !isStale) return;
    this.update = null;
    this.load();
  }

  // ---- loaded files

  // Load the selected agent's file, for its values and its proof.
  load() {
    const isSame = this.loaded?.id === this.agent?.id && this.loaded?.update === this.update;
    if (!isSame) this.loaded = null;
    return this.loadSelected();
  }

  async readSelected() {
    if (!this.agent) return null;
    try {
      return await this.app.agents.load(this.agent.id, this.update);
    } catch (error) {
      say(error.message);
      return null;
    }
  }

  // Load an agent again, which has learned, where it is selected.
  //
  // One file at a time: an agent that learns faster than its files are read would never be
  // shown, since a newer call replaces an older one.
  async reload(id) {
    this.others.delete(id);
    this.app.comparison.reload(id);
    if (this.agent?.id !== id) return;
    this.isOutdated = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.isOutdated) {
      this.isOutdated = false;
      await this.load();
    }
    this.isReading = false;
  }

  // The kinds of learned agents of this game: "network", "table".
  get kinds() {
    const kinds = new Set(this.entries.map(({ kind }) => kind));
    return ["network", "table"].filter((kind) => kinds.has(kind));
  }

  // The agent whose values of a kind are shown: the selected one, or the first of the kind.
  agentOfKind(kind) {
    if (this.agent?.kind === kind) return { entry: this.agent, loaded: this.loaded };
    const entry = this.entries.find((agent) => agent.kind === kind);
    if (entry && !this.others.has(entry.id)) this.loadOther(entry.id);
    return { entry, loaded: this.others.get(entry?.id) ?? null };
  }

  async loadOther(id) {
    this.others.set(id, null);
    try {
      this.others.set(id, await this.app.agents.load(id));
      this.app.changed();
    } catch {
      this.others.delete(id); // it is tried again when the page is rendered next
    }
  }
}
