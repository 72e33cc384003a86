// The learned agents: which one is selected, at which update, and its values.

import { number } from "page/dom";

const TITLES = {
  shipped: (agent) => `Shipped ${agent.name}`,
  run: (agent) => `Run ${agent.name}`,
  live: (agent) => `In training: ${agent.kind}`,
  imported: (agent) => `Imported ${agent.name}`,
};

export class Agents extends EventTarget {
  constructor(tree, source) {
    super();
    Object.assign(this, { tree, source });
    this.list = [];
    this.refused = [];
    this.id = null;
    this.update = null; // null: the latest
    this.cache = new Map(); // promises of action values
  }

  async refresh() {
    const found = await this.source.agents();
    this.list = found.agents.map((agent) => ({
      ...agent,
      title: TITLES[agent.source]?.(agent) ?? agent.name,
    }));
    this.refused = found.refused;
    if (!this.get(this.id)) {
      this.id = this.list[0]?.id ?? null;
      this.update = null;
    }
    this.dispatchEvent(new CustomEvent("list"));
  }

  get(id) {
    return this.list.find((agent) => agent.id === id) ?? null;
  }

  get selected() {
    return this.get(this.id);
  }

  // The selected agent with its update, in words.
  get label() {
    return this.name(this.id, this.update);
  }

  name(id, update) {
    const agent = this.get(id);
    if (!agent) return "no agent";
    return update === null ? agent.title : `${agent.title} at update ${number(update)}`;
  }

  select(id, update = null) {
    if (!this.get(id)) return;
    this.id = id;
    this.update = update;
    this.dispatchEvent(new CustomEvent("select"));
  }

  // Action values; an agent that is still learning is asked for again.
  values(id = this.id, update = this.update) {
    if (id === null) return Promise.reject(new Error("There is no learned agent."));
    const changes = this.get(id)?.source === "live" && update === null;
    const key = `${id}@${update}`;
    if (changes) this.cache.delete(key);
    if (!this.cache.has(key)) {
      const asked = this.source.values(this.tree, id, update);
      asked.catch(() => this.cache.delete(key));
      this.cache.set(key, asked);
    }
    return this.cache.get(key);
  }

  // A layer of values: the selected agent's if it is of this kind, else the first one's.
  async layer(kind) {
    const own = this.selected?.kind === kind;
    const id = own ? this.id : this.list.find((agent) => agent.kind === kind)?.id;
    if (id === undefined) return { layer: kind, values: null, name: "none" };
    const update = own ? this.update : null;
    const values = await this.values(id, update);
    return { layer: kind, values, name: this.name(id, update) };
  }
}
