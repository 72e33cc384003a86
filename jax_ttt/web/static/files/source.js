// The source of the page's agents and runs: a server, or the files of an exported page.

import { openServer } from "./server.js";
import { fromBase64 } from "./storage.js";

// The source of agents, histories and runs: { live (whether it is a server), agents(),
// file(id, update), history(id), tree(), worker (the address of worker.js),
// follow(run, onNews, onConnection) }. An update of null is the latest one. Without a server
// there are no runs to follow.
export function openSource() {
  const text = inPage("data");
  return text === null ? openServer() : openFiles(JSON.parse(text));
}

// The text of a file that is part of the page, or null. The page for file:// has all of them.
function inPage(path) {
  return document.getElementById(path)?.textContent ?? null;
}

async function fetchFile(path) {
  const address = path.split("/").map(encodeURIComponent).join("/");
  const response = await fetch(address).catch(() => null);
  if (response === null) throw new Error("The page's host does not answer.");
  if (!response.ok) throw new Error(`The page's host answered ${response.status}.`);
  return response;
}

// `agents` is the list of them, `histories` has the rows of each agent by its id.
function openFiles({ agents, histories }) {
  const code = inPage("worker.js");
  let tree = null;
  const readTree = async () => {
    const text = inPage("tic_tac_toe.json");
    return text === null ? (await fetchFile("tic_tac_toe.json")).json() : JSON.parse(text);
  };
  return {
    live: false,
    agents: async () => ({ agents, refused: [] }),
    file: async (id, update = null) => {
      const entry = agents.find((agent) => agent.id === id);
      if (!entry) throw new Error("This page does not have that agent.");
      const path = `agents/${id}/${update ?? entry.updates}.safetensors`;
      const text = inPage(path);
      return text === null ? (await fetchFile(path)).arrayBuffer() : fromBase64(text);
    },
    history: async (id) => histories[id] ?? [],
    tree: () => {
      tree ??= readTree().catch((error) => {
        tree = null; // the next caller asks again
        throw error;
      });
      return tree;
    },
    worker: code === null ? "worker.js" : `data:text/javascript,${encodeURIComponent(code)}`,
    follow: () => () => {},
  };
}
