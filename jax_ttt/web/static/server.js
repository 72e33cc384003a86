// The server's answers: every request that the page makes.

import { fromBase64 } from "page/values";

export class RequestError extends Error {}

async function ask(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new RequestError("The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  let reason = `The server answered ${response.status}.`;
  try {
    reason = (await response.json()).error ?? reason;
  } catch {
    // not JSON: the status is all there is
  }
  throw new RequestError(reason);
}

export async function json(method, path, body) {
  const response = await ask(method, path, body);
  return response.status === 204 ? null : response.json();
}

function query(id, update) {
  const parameters = new URLSearchParams({ agent: id });
  if (update !== null && update !== undefined) parameters.set("update", update);
  return parameters.toString();
}

function asked({ level, agent, update }) {
  if (level === "expert") return { level };
  if (level === "medium") return update === null ? { agent } : { agent, update };
  return { level, agent };
}

export function openServer() {
  return {
    live: true,
    games: {
      start: (opponent, side) =>
        json("POST", "/api/games", { opponent: asked(opponent), side }),
      get: (id) => json("GET", `/api/games/${encodeURIComponent(id)}`),
      move: (id, ply, square) =>
        json("POST", `/api/games/${encodeURIComponent(id)}/moves`, { ply, square }),
      undo: (id, ply) => json("POST", `/api/games/${encodeURIComponent(id)}/undo`, { ply }),
    },
    statistics: {
      read: () => json("GET", "/api/statistics"),
      clear: () => json("DELETE", "/api/statistics"),
      backup: async () => (await ask("GET", "/api/backup")).blob(),
      restore: (text) => json("POST", "/api/backup", text),
    },
    training: {
      status: () => json("GET", "/api/training"),
      command: (command, learner) =>
        json("POST", "/api/training", learner ? { command, learner } : { command }),
      change: (settings) => json("PATCH", "/api/training/settings", settings),
      events: () => new EventSource("/api/training/events"),
    },
    tree: () => json("GET", "/api/tree"),
    agents: () => json("GET", "/api/agents"),
    values: async (tree, id, update) => {
      const found = await json("GET", `/api/values?${query(id, update)}`);
      return fromBase64(tree, found.values, found.moves);
    },
    history: (id) => json("GET", `/api/history?${query(id)}`),
    grade: (id, update) => json("GET", `/api/grade?${query(id, update)}`),
  };
}
