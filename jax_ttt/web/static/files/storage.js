// Values that this browser keeps for the page, as JSON, and files to download.

const PREFIX = "jax_ttt.";

// What JSON calls a value: "object", "list", "null", "string", "number" or "boolean".
function kindOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

class Store {
  // `open` returns a Storage, or throws where the browser blocks it.
  constructor(open) {
    this.memory = new Map(); // texts that the browser could not keep
    try {
      this.storage = open();
    } catch {
      this.storage = null;
    }
  }

  text(name) {
    return this.memory.get(name) ?? this.storage?.getItem(PREFIX + name) ?? null;
  }

  read(name, missing = null) {
    const text = this.text(name);
    if (text === null) return missing;
    try {
      const value = JSON.parse(text);
      return kindOf(value) === kindOf(missing ?? {}) ? value : missing;
    } catch {
      return missing;
    }
  }

  // Returns whether the value outlives this page; else it lasts as long as the page.
  write(name, value) {
    const text = JSON.stringify(value);
    this.memory.set(name, text);
    if (!this.storage) return false;
    try {
      this.storage.setItem(PREFIX + name, text);
    } catch {
      return false; // no room left
    }
    this.memory.delete(name);
    return true;
  }

  remove(name) {
    this.memory.delete(name);
    this.storage?.removeItem(PREFIX + name);
  }

  names(start) {
    const keys = this.storage ? Object.keys(this.storage) : [];
    const own = keys.filter((key) => key.startsWith(PREFIX));
    const names = [...own.map((key) => key.slice(PREFIX.length)), ...this.memory.keys()];
    return [...new Set(names)].filter((name) => name.startsWith(start));
  }
}

const browserStore = new Store(() => localStorage);
const tabStore = new Store(() => sessionStorage);

// Whether this browser keeps anything for the page.
export const isPersistent = browserStore.storage !== null;

// How long an agent or a game is kept, in words.
export const PLACE = isPersistent ? "in this browser" : "until this page is closed";

// The value of a name, of the kind of `missing`, or an object if that is null. `missing` is
// returned where there is no value, or it is damaged or of another kind.
export function read(name, missing = null) {
  return browserStore.read(name, missing);
}

// Keep a value for all tabs. Returns whether it outlives this page.
export function write(name, value) {
  return browserStore.write(name, value);
}

// Forget a value.
export function remove(name) {
  browserStore.remove(name);
}

// The names that begin with a text.
export function names(start) {
  return browserStore.names(start);
}

// Keep the text of a damaged value under another name, since the next write replaces it.
export function setAside(name) {
  const text = browserStore.text(name);
  if (text !== null) browserStore.write(`${name}.damaged`, text);
}

// Call a listener with the name of each value that another tab changes.
export function onChange(listener) {
  window.addEventListener("storage", ({ key }) => {
    if (key?.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
  });
}

// A value of this tab alone, or `missing`; a second tab has values of its own.
export function readTab(name, missing = null) {
  return tabStore.read(name, missing);
}

// Keep a value for this tab. Returns whether it outlives this page.
export function writeTab(name, value) {
  return tabStore.write(name, value);
}

// Bytes as text.
export function toBase64(buffer) {
  const bytes = new Uint8Array(buffer);
  const size = 0x8000; // a call takes a limited number of arguments
  let text = "";
  for (let at = 0; at < bytes.length; at += size) {
    text += String.fromCharCode(...bytes.subarray(at, at + size));
  }
  return btoa(text);
}

// Text as bytes, an ArrayBuffer. Throws where the text is not base64.
export function fromBase64(text) {
  const own = /** @type {any} */ (Uint8Array).fromBase64; // newer browsers have it
  if (own) return own.call(Uint8Array, text).buffer;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}

// Offer bytes or a text as a file to download.
export function download(name, data, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the download has begun by then
}
