// The source of the page's agents and runs: a server, or the exported page itself.

import { openServer } from "./server.js";
import { fromBase64 } from "./storage.js";

// The source of agents, histories and runs: { live (whether it is a server), agents(),
// file(id, update), history(id), tree(), follow(run, onNews, onConnection) }. An update of null
// is the latest one. Without a server there are no runs to follow.
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
    tree: async () => data.tree,
    follow: () => () => {},
  };
}
