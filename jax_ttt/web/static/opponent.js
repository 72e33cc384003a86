// The opponent of a game. Its agent is loaded once, so that it is the same until the end of
// the game, also if it learns meanwhile.

import { levelName, levelPlayer } from "./levels.js";

export class Opponent {
  // `agent` is the id of an agent, null for the first one of the game; `update` is null for
  // its latest. `depth` is the number of moves that it looks ahead. `name` is its name until
  // it is loaded.
  constructor(app, { level, agent = null, update = null, depth = 0, name = "" }) {
    Object.assign(this, { app, level, agent, update, depth, name });
    this.rules = app.rules;
    this.loaded = null; // the agent's file, once it is there
    this.loading = null; // a promise of it
  }

  // The loaded agent. A failed attempt can be made again.
  load() {
    this.loading ??= this.read().catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  async read() {
    const { app } = this;
    await app.ready; // the list of agents
    this.agent ??= app.agent?.id ?? null;
    if (this.agent === null) throw new Error("There is no learned agent of this game.");
    this.loaded = await app.agents.load(this.agent, this.update);
    this.name = app.agentTitle(this.agent, this.update);
    app.changed();
    return this.loaded;
  }

  // The level and the agent in words; "Unbeatable" only where that is proven.
  get title() {
    const level = levelName(this.level, this.loaded, this.depth);
    return this.level === "expert" || !this.name ? level : `${level}: ${this.name}`;
  }

  // The function that moves for it.
  get player() {
    const { level, depth, rules } = this;
    return levelPlayer(level, { engine: this.app.engine, rules, depth, load: () => this.load() });
  }

  // Whether it is the one of these choices.
  matches({ level, depth }, agent, update) {
    if (level !== this.level) return false;
    if (level === "expert") return true;
    return depth === this.depth && agent === this.agent && update === this.update;
  }

  // What a tab keeps of it, as the constructor takes it.
  get choices() {
    const { level, agent, update, depth, name } = this;
    return { level, agent, update, depth, name };
  }
}
