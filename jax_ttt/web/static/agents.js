// The learned agents: which one is selected, at which update, and its values.

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
    this.list = found.agents;
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
    return update === null ? agent.name : `${agent.name} at update ${update}`;
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

  // The agent whose values a layer shows: the selected one, else the first of its kind.
  ofKind(kind) {
    if (this.selected?.kind === kind) return { id: this.id, update: this.update };
    const first = this.list.find((agent) => agent.kind === kind);
    return first ? { id: first.id, update: null } : null;
  }
}
