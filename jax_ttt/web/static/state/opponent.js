// The opponent of a game. Its agent is loaded once, so that it is the same until the end of
// the game, also if it learns meanwhile.

import { isDrawBest, levelAbove, levelName, levelPlayer } from "./levels.js";
import { observe } from "./observe.js";
import { inSentence } from "./words.js";

export class Opponent {
  engine; grades; agents; selection; rules; onReplaced;
  level = "full";
  agent = null; // the id of an agent; null for the first one of the game
  update = null; // of the agent; null for its latest
  depth = 0; // the number of moves that it looks ahead
  name = ""; // of the agent, until it is loaded
  side = null; // that it plays, once its game begins
  loaded = null; // the agent's file, once it is there

  // `parts` are { engine, grades, agents, selection, rules }; the choices are as `choices` returns
  // them. `onReplaced()` is called where another agent takes the place of one that is gone.
  constructor(parts, choices, onReplaced) {
    const { level, agent = null, update = null, depth = 0, name = "" } = choices;
    Object.assign(this, { ...parts, level, agent, update, depth, name, onReplaced });
    observe(this, "agent", "update", "name", "side", "loaded");
    this.loading = null; // a promise of the loaded agent
  }

  // The loaded agent. A failed attempt can be made again.
  load() {
    this.loading ??= this.read().catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  // Load the agent again, which has learned; until then, the one before plays.
  renew() {
    this.loading = this.read().catch(() => this.loaded);
  }

  async read() {
    const { agents, selection } = this;
    await agents.ready;
    const isGone = this.agent !== null && agents.get(this.agent) === null;
    if (isGone && selection.agent) {
      this.update = selection.update;
      this.agent = selection.agent.id;
      this.onReplaced();
    }
    this.agent ??= selection.agent?.id ?? null;
    if (this.agent === null) throw new Error("There is no learned agent of this game.");
    this.loaded = await agents.load(this.agent, this.update);
    this.name = selection.titleOf(this.agent, this.update);
    return this.loaded;
  }

  // It as `levelName` takes it.
  get described() {
    const { grades, loaded, depth, side } = this;
    return { grades, agent: loaded, depth, side };
  }

  // The level and the agent in words; "Unbeatable" only where that is proven.
  get title() {
    return this.titleBy(this.described);
  }

  // The same for the statistics, in which a game has one name, whatever is proven by then.
  get countedTitle() {
    return this.titleBy(null);
  }

  titleBy(player) {
    const level = levelName(this.level, player);
    if (this.level === "expert" || !this.name) return level;
    if (this.level === "full") return `${level}: ${this.name}`;
    return `${level} level of ${inSentence(this.name)}`;
  }

  // The level above it for the same agent: { level, name }, or null at the top.
  get nextLevel() {
    const level = levelAbove(this.level);
    if (level === null) return null;
    // Without a side: "Unbeatable" where that is proven of both.
    const name = levelName(level, { ...this.described, side: null });
    return { level, name: name.replace(/ \(.*/, "") };
  }

  // Whether each of its moves is the agent's own choice, of which proofs are: without random moves
  // and without a search.
  get isAlone() {
    return this.level === "full" && this.depth === 0;
  }

  // Whether a draw is the best result possible against it, as far as that is known.
  get isDrawBest() {
    return isDrawBest(this.level, this.described, this.rules);
  }

  // The function that moves for it.
  get player() {
    const { engine, level, depth, rules } = this;
    return levelPlayer(level, { engine, rules, depth, load: () => this.load() });
  }

  // Whether it is the one of these choices.
  matches({ level, depth }, agent, update) {
    if (level !== this.level) return false;
    if (level === "expert") return true;
    return depth === this.depth && agent === this.agent && update === this.update;
  }

  // What a tab keeps of it.
  get choices() {
    const { level, agent, update, depth, name } = this;
    return { level, agent, update, depth, name };
  }
}
