// The source of the page's agents and training: a server, or the exported page itself.

import { openServer } from "./server.js";
import { fromBase64 } from "./storage.js";

// The source of agents, histories and training: { live, agents(), file(id, update),
// history(id), remove(id), tree(), training }. An update of null is the latest one. Without a
// server `training` is null: see local_training.js.
export function openSource() {
  const data = document.getElementById("data");
  return data ? openEmbedded(JSON.parse(data.textContent)) : openServer();
}

function openEmbedded(data) {
  const entry = (id) => data.agents.find((agent) => agent.id === id);
  return {
    live: false,
    agents: async () => ({ agents: data.agents, refused: [] }),
    file: async (id, update = null) => {
      const text = data.files[`${id}@${update ?? entry(id)?.updates}`];
      if (text === undefined) throw new Error("This page does not have that agent.");
      return fromBase64(text);
    },
    history: async () => [],
    remove: async () => {
      throw new Error("This agent is part of the page.");
    },
    tree: async () => data.tree,
    training: null,
  };
}
