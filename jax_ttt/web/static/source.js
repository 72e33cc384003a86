// Where the page's data come from: a server, or the data in an exported page.

import { byId } from "page/dom";
import { fromLegal } from "page/values";
import { openServer } from "page/server";
import { LocalStatistics } from "page/local_statistics";

export function openSource() {
  const data = byId("data");
  return data ? openEmbedded(JSON.parse(data.textContent)) : openServer();
}

function openEmbedded(data) {
  const about = (id) => data.agents.agents.find((agent) => agent.id === id);
  const key = (id, update) => `${id}@${update ?? about(id).updates}`;
  const row = (id, update) => ({ update, grade: data.grades[key(id, update)] });
  return {
    live: false,
    games: null, // the page replies by itself
    training: null,
    statistics: new LocalStatistics(),
    tree: async () => data.tree,
    agents: async () => data.agents,
    values: async (tree, id, update) => {
      const of = key(id, update);
      return fromLegal(tree, data.values[of], data.moves[of]);
    },
    history: async (id) => ({ rows: about(id).snapshots.map((update) => row(id, update)) }),
    grade: async (id, update) => data.grades[key(id, update)],
  };
}
