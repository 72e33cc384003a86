// The learned agents of the page: those of its source, and those kept in this browser.

import { readAgent } from "./agent_file.js";
import * as storage from "./storage.js";

const NAMES = "agent."; // each agent has a name of its own in the storage
const FULL = "This browser has no room left: download or delete an agent.";

// A name with the kind of agent, once.
function withKind(name, kind) {
  return name.includes(kind) ? name : `${name} (${kind})`;
}

const TITLES = {
  shipped: ({ kind }) => `Shipped ${kind}`,
  run: ({ name, kind }) => `Run ${name} (${kind})`,
  live: ({ kind }) => `In training: ${kind}`,
  kept: ({ name, kind }) => `Kept on the server: ${withKind(name, kind)}`,
  browser: ({ name, kind }) => `Kept: ${withKind(name, kind)}`,
};

// A number that differs where the bytes differ (FNV-1a, 32 bits).
function checksum(buffer) {
  let sum = 0x811c9dc5;
  for (const byte of new Uint8Array(buffer)) sum = Math.imul(sum ^ byte, 0x01000193);
  return (sum >>> 0).toString(16);
}

function storedAgents() {
  return storage.names(NAMES).flatMap((key) => {
    const stored = storage.read(key);
    if (typeof stored?.data !== "string") return []; // damaged
    const { data, ...entry } = stored;
    const name = key.slice(NAMES.length);
    return [{ ...entry, id: `browser/${name}`, name, source: "browser", snapshots: [] }];
  });
}

// The agents: `list` has { id, name, title, source, env_id, kind, updates, preset,
// snapshots } each, and `refused` { name, reason } of files that could not be read.
export class Agents {
  // `changed` is called after each change of the list.
  constructor(source, changed) {
    this.source = source;
    this.changed = changed;
    this.list = [];
    this.refused = [];
    this.served = []; // the agents of the source
    this.cache = new Map(); // promises of loaded agents, by id and update
    storage.onChange((name) => {
      if (name.startsWith(NAMES)) this.relist();
    });
  }

  // Ask the source for its agents. The list stays as it was where there is no answer.
  async refresh() {
    try {
      const { agents, refused } = await this.source.agents();
      this.served = agents;
      this.refused = refused;
    } finally {
      this.relist();
    }
  }

  relist() {
    const stored = storedAgents().sort((a, b) => a.added - b.added);
    this.list = [...this.served, ...stored].map((entry) => ({
      ...entry,
      title: TITLES[entry.source](entry),
    }));
    this.changed();
  }

  // The agents of a game.
  for(envId) {
    return this.list.filter((entry) => entry.env_id === envId);
  }

  get(id) {
    return this.list.find((entry) => entry.id === id) ?? null;
  }

  // An agent as it is at an update; null is its latest. Resolves to { key, id, update,
  // bytes, file }: `key` is the same where the bytes are the same.
  load(id, update = null) {
    if (this.get(id)?.source === "live") return this.read(id, update); // it changes
    const name = `${id}@${update}`;
    if (!this.cache.has(name)) {
      const loading = this.read(id, update);
      loading.catch(() => this.cache.delete(name));
      this.cache.set(name, loading);
    }
    return this.cache.get(name);
  }

  async read(id, update) {
    const entry = this.get(id);
    if (!entry) throw new Error("This agent is not there any more.");
    const bytes =
      entry.source === "browser"
        ? storage.fromBase64(storage.read(NAMES + entry.name).data)
        : await this.source.file(id, update);
    const file = readAgent(bytes);
    return { key: `${id}@${file.updates}#${checksum(bytes)}`, id, update, bytes, file };
  }

  // Load the shipped agents, so that the page can play on without its server.
  async prefetch() {
    const shipped = this.list.filter((entry) => entry.source === "shipped");
    await Promise.allSettled(shipped.map((entry) => this.load(entry.id)));
  }

  // Note that an agent of the source has learned on.
  grow(id, fields) {
    for (const list of [this.served, this.list]) {
      const entry = list.find((one) => one.id === id);
      if (entry) Object.assign(entry, fields);
    }
  }

  // A name for an agent: "table 1, 400 updates"; the numbers go up.
  nameFor({ kind, updates }) {
    const stored = storage.names(NAMES).map((key) => key.slice(NAMES.length));
    let number = 1;
    const isTaken = (name) => name === `${kind} ${number}` || name.startsWith(`${kind} ${number},`);
    while (stored.some(isTaken)) number += 1;
    return `${kind} ${number}, ${updates.toLocaleString("en-US")} updates`;
  }

  isTaken(name) {
    return storage.names(NAMES).includes(NAMES + name);
  }

  // The name, with a number where another agent has it.
  freeName(name) {
    let free = name;
    for (let number = 2; this.isTaken(free); number += 1) free = `${name} ${number}`;
    return free;
  }

  // Keep the bytes of an agent's file in this browser. Nothing is overwritten. Returns
  // the id. Throws where the file is not an agent's, or the browser is full.
  keep(name, bytes) {
    const { envId, kind, updates } = readAgent(bytes);
    const free = this.freeName(name.trim() || this.nameFor({ kind, updates }));
    const stored = { env_id: envId, kind, updates, preset: null, added: Date.now() };
    const isWritten = storage.write(NAMES + free, { ...stored, data: storage.toBase64(bytes) });
    if (!isWritten && storage.isPersistent) {
      storage.remove(NAMES + free);
      throw new Error(FULL);
    }
    this.relist();
    return `browser/${free}`;
  }

  // The id of the agent in this browser with these bytes, or null.
  keptAs(bytes) {
    const data = storage.toBase64(bytes);
    const key = storage.names(NAMES).find((name) => storage.read(name)?.data === data);
    return key === undefined ? null : `browser/${key.slice(NAMES.length)}`;
  }

  // Delete an agent of this browser, or one that the server keeps.
  async remove(id) {
    const entry = this.get(id);
    if (entry.source === "browser") storage.remove(NAMES + entry.name);
    else {
      await this.source.remove(id);
      this.served = this.served.filter((served) => served.id !== id);
    }
    this.forget(id);
    this.relist();
  }

  forget(id) {
    for (const name of this.cache.keys()) if (name.startsWith(`${id}@`)) this.cache.delete(name);
  }

  // Whether the agent is kept under a name that a person may delete.
  canRemove(entry) {
    return entry.source === "browser" || entry.source === "kept";
  }

  // Offer an agent's file to download: the file that `python -m jax_ttt.play` takes.
  async download(id, update = null) {
    const { bytes, file } = await this.load(id, update);
    const entry = this.get(id);
    const name = entry.source === "live" ? this.nameFor(file) : entry.name;
    storage.download(`${name.replace(/[^\w.-]+/g, "-")}.safetensors`, bytes);
  }

  // The agents that neither the program nor a run has: [{ id, name, data }], in base64.
  async exported() {
    const own = this.list.filter(({ source }) => ["browser", "kept", "live"].includes(source));
    const agents = own.map(async ({ id, name, source }) => {
      const { bytes, file } = await this.load(id);
      const title = source === "live" ? this.nameFor(file) : name;
      return { id, name: title, data: storage.toBase64(bytes) };
    });
    return Promise.all(agents);
  }

  // Whether an agent of an exported file is here already, with the same bytes.
  async isHere({ id, name, bytes }) {
    const sum = checksum(bytes);
    const alike = this.list.filter((entry) => entry.id === id || entry.id === `browser/${name}`);
    const keys = await Promise.allSettled(alike.map((entry) => this.load(entry.id)));
    return keys.some(({ value }) => value && value.key.endsWith(`#${sum}`));
  }
}
