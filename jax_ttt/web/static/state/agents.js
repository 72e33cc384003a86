// The learned agents of the page: from its source (source.js), and those that this
// browser keeps.

import { asRead } from "../engine/learned_agent.js";
import { gameOf } from "../engine/rules.js";
import { readAgent } from "../files/agent_file.js";
import { writeAgent } from "../files/agent_writer.js";
import * as storage from "../files/storage.js";
import { batch, computed } from "../vendor/preact.js";
import { observe } from "./observe.js";
import { Resource } from "./resource.js";

const NAMES = "agent."; // begin of the names of agents in the storage
const BROWSER = "browser/"; // how the id of an agent of this browser begins
export const LIVE = "live/"; // how the id of an agent in training begins
const FULL = "This browser has no room left: download or delete an agent.";
const MAX_FILES = 64; // that are kept

// A name with the kind of agent, once.
function withKind(name, kind) {
  return name.includes(kind) ? name : `${name} (${kind})`;
}

const TITLES = {
  shipped: ({ kind }) => `Our ${kind}`,
  run: ({ name, kind }) => `Run ${name} (${kind})`,
  live: ({ kind }) => `The ${kind} you trained`,
  browser: ({ name, kind }) => `Kept: ${withKind(name, kind)}`,
};

// A text that changes when an agent's file does, or when the agent learns.
export function versionOf({ id, stamp }) {
  return `${id}#${stamp}`;
}

function storedAgents() {
  const stored = storage.names(NAMES).flatMap((key) => {
    const stored = storage.read(key);
    if (typeof stored?.data !== "string") return []; // damaged
    const { data, ...entry } = stored;
    const name = key.slice(NAMES.length);
    const stamp = entry.added;
    return [{ ...entry, id: BROWSER + name, name, source: "browser", stamp, snapshots: [] }];
  });
  return stored.sort((a, b) => a.added - b.added);
}

function readStored(id) {
  const stored = storage.read(NAMES + id.slice(BROWSER.length));
  if (!stored) throw new Error("This agent is not there any more.");
  return storage.fromBase64(stored.data);
}

export class Agents {
  refused = []; // files that could not be read: { name, reason }
  runs = []; // in training, that can be watched: { name, env_id, preset, seed, ... }
  command = null; // that trains such a run; null without a server
  served = []; // the agents of the source
  stored = storedAgents(); // those of this browser
  // The agent of this page's training, or null: { id, learner, envId, stamp, snapshots }, with a
  // Map of the agents by update, see learned_agent.js. Each has the `stamp` at which it came,
  // since an agent also learns between two updates, from a person's game.
  live = null;

  constructor(source) {
    this.source = source;
    observe(this, "refused", "runs", "command", "served", "stored", "live");
    this.entries = computed(() =>
      [...this.served, ...this.liveEntries, ...this.stored].map((entry) => ({
        ...entry,
        env_id: gameOf(entry.env_id),
        title: TITLES[entry.source](entry),
      })),
    );
    this.ready = Promise.resolve(); // the list of the source has arrived
    this.numRefreshes = 0;
    this.newestReply = 0; // the number of the refresh that brought the list
    this.files = new Resource({ max: MAX_FILES });
    storage.onChange((name) => {
      if (name.startsWith(NAMES)) this.readStorage();
    });
  }

  // All agents: { id, name, title, source, env_id, kind, updates, stamp, snapshots } each.
  get list() {
    return this.entries.value;
  }

  get liveEntries() {
    if (this.live === null) return [];
    const { id, learner, envId, stamp, snapshots } = this.live;
    const updates = [...snapshots.keys()];
    const names = { id, name: learner, kind: learner, env_id: envId, source: "live", stamp };
    return [{ ...names, updates: updates.at(-1), snapshots: updates }];
  }

  // Request the agents of the source. Without an answer the list stays as it was.
  async refresh() {
    this.numRefreshes += 1;
    const number = this.numRefreshes;
    const { agents, refused, runs = [], command = null } = await this.source.agents();
    const isNewer = number > this.newestReply; // than what is there
    if (!isNewer) return;
    batch(() => Object.assign(this, { served: agents, refused, runs, command }));
    this.newestReply = number;
  }

  readStorage() {
    this.stored = storedAgents();
  }

  // The agents of a game.
  for(envId) {
    return this.list.filter((entry) => entry.env_id === envId);
  }

  get(id) {
    return this.list.find((entry) => entry.id === id) ?? null;
  }

  // An agent as it is at an update; null is its latest. Resolves to { key, id, update, file,
  // bytes }: `key` is the same where the contents are the same, `file` is as `readAgent`
  // returns it, and `bytes()` resolves to the file's.
  load(id, update = null) {
    return this.files.load(...this.requestOf(id, update));
  }

  // The same as far as it is there, { value, error } as of a Resource: the one before where the
  // agent has learned since.
  shown(id, update = null) {
    return this.files.get(...this.requestOf(id, update));
  }

  requestOf(id, update) {
    const entry = this.get(id);
    const version = entry === null ? id : versionOf(entry);
    return /** @type {const} */ ([`${id}|${update}`, () => this.read(id, update), version]);
  }

  async read(id, update) {
    if (id.startsWith(LIVE)) {
      const learned = this.learned(id, update);
      const key = `${id}@${learned.updates}#${learned.stamp}`;
      return { key, id, update, file: asRead(learned), bytes: () => writeAgent(learned) };
    }
    const bytes = id.startsWith(BROWSER) ? readStored(id) : await this.source.file(id, update);
    const file = await readAgent(bytes);
    const key = `${id}@${file.updates}#${file.sha256}`;
    return { key, id, update, file, bytes: async () => bytes };
  }

  // The agent of this page's training at an evaluation. Throws where it is gone.
  learned(id, update) {
    const snapshots = this.live?.id === id ? this.live.snapshots : new Map();
    const agent = snapshots.get(update ?? [...snapshots.keys()].at(-1));
    if (agent === undefined) throw new Error("The agent of this training is gone.");
    return agent;
  }

  // Load the shipped agents, so that the page can play on without its server.
  async prefetch() {
    const shipped = this.list.filter((entry) => entry.source === "shipped");
    const loading = shipped.map((entry) => this.load(entry.id));
    await Promise.allSettled([this.source.tree(), ...loading]);
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
  // the id. Rejects where the file is not an agent's, or the browser is full.
  async keep(name, bytes) {
    const { envId, kind, updates } = await readAgent(bytes);
    const free = this.freeName(name.trim() || this.nameFor({ kind, updates }));
    const stored = { env_id: envId, kind, updates, added: Date.now() };
    const isWritten = storage.write(NAMES + free, { ...stored, data: storage.toBase64(bytes) });
    if (!isWritten && storage.isPersistent) {
      storage.remove(NAMES + free);
      throw new Error(FULL);
    }
    this.readStorage();
    return BROWSER + free;
  }

  // Delete an agent of this browser.
  remove(id) {
    storage.remove(NAMES + this.get(id).name);
    this.readStorage();
  }

  // Offer an agent's file to download: the file that `python -m jax_ttt.play` takes.
  async download(id, update = null) {
    const { bytes, file } = await this.load(id, update);
    const content = await bytes();
    const entry = this.get(id);
    const name = entry.source === "live" ? this.nameFor(file) : entry.name;
    storage.download(`${name.replace(/[^\w.-]+/g, "-")}.safetensors`, content);
  }
}
