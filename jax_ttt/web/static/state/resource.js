// What is loaded or computed later, by key.

import { signal } from "../vendor/preact.js";

const RETRY = 10_000; // milliseconds after which a failed load is tried again
const NOTHING = { value: undefined, error: null };

// What is known of one key: `state` is a signal of { value, error }.
class Entry {
  constructor() {
    this.state = signal(NOTHING);
    this.version = undefined; // of the value, or of the load that failed
    this.retryAt = Infinity; // when a failed load may be repeated
    this.loading = null; // { version, promise } of the newest load, while it is under way
  }
}

export class Resource {
  // Keeps at most `max` keys: those that nobody asked for longest go.
  constructor({ max = 1000 } = {}) {
    this.max = max;
    this.entries = new Map();
  }

  // What is known of a key: { value (undefined before there is one), error (null without one) }.
  // Who observes it is told when that changes. `load()` is called unless the value is there in
  // this version, or another load is under way: until a newer value arrives the one before
  // stays, and a busy machine computes one at a time.
  get(key, load, version = key) {
    const entry = this.entryOf(key);
    const isThere = entry.version === version && performance.now() < entry.retryAt;
    if (!isThere && entry.loading === null) this.start(entry, load, version);
    return entry.state.value;
  }

  // A promise of the value in this version, with the same `load`.
  load(key, load, version = key) {
    const entry = this.entryOf(key);
    const { value, error } = entry.state.value;
    if (entry.version === version && error === null) return Promise.resolve(value);
    if (entry.loading?.version === version) return entry.loading.promise;
    return this.start(entry, load, version);
  }

  entryOf(key) {
    const entry = this.entries.get(key) ?? new Entry();
    this.entries.delete(key);
    this.entries.set(key, entry);
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.max) this.entries.delete(oldest);
    return entry;
  }

  start(entry, load, version) {
    const promise = Promise.resolve().then(load);
    const loading = { version, promise };
    entry.loading = loading;
    const ifNewest = (use) => (result) => {
      if (entry.loading !== loading) return;
      entry.loading = null;
      use(result);
    };
    promise.then(
      ifNewest((value) => this.arrive(entry, { value, error: null }, version)),
      ifNewest((error) => {
        // A request that another one replaced is sent again when somebody asks for it again.
        if (error.name === "AbortError") return;
        this.arrive(entry, { value: entry.state.value.value, error }, version);
        entry.retryAt = performance.now() + RETRY;
      }),
    );
    return promise;
  }

  arrive(entry, state, version) {
    entry.version = version;
    entry.retryAt = Infinity;
    entry.state.value = state;
  }
}
