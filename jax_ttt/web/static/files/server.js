// The page's requests to the server, and the events of training.

const RETRY = 30_000; // milliseconds

const answered = new EventTarget(); // has an event "answer" after each answer

// A request that was refused or not answered; its message is for people.
class RequestError extends Error {}

async function request(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new RequestError("The server does not answer.");
  }
  answered.dispatchEvent(new Event("answer"));
  if (response.ok) return response;
  let reason = `The server answered ${response.status}.`;
  try {
    reason = (await response.json()).error ?? reason;
  } catch {
    // not JSON: the status is all there is
  }
  throw new RequestError(reason);
}

async function getJson(path) {
  return (await request("GET", path)).json();
}

function query(id, update = null) {
  const parameters = new URLSearchParams({ agent: id });
  if (update !== null) parameters.set("update", update);
  return parameters;
}

// Follow the training by its events while the tab is visible, and until `isNeeded()` is false
// after a message. A browser allows six connections to a server, and each stream holds one, so
// many tabs can be open that have none. `onMessage(status, isFirst)` gets the status: the first
// one after a connection has all rows, a later one has those that are new. Returns a function
// that follows the training again.
function listen(onMessage, onConnection, isNeeded) {
  let events = null; // the stream, if there is one
  let retry = null; // the timer of the next attempt, if the server did not answer

  function close() {
    clearTimeout(retry);
    retry = null;
    events?.close();
    events = null;
  }

  function follow() {
    if (events || document.hidden) return;
    close();
    let isFirst = true;
    events = new EventSource("/api/training/events");
    events.addEventListener("open", () => onConnection(true));
    events.addEventListener("training", (event) => {
      onMessage(JSON.parse(event.data), isFirst);
      isFirst = false;
      if (!isNeeded()) close();
    });
    events.addEventListener("error", () => {
      close();
      onConnection(false);
      retry = setTimeout(follow, RETRY);
    });
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : follow()));
  window.addEventListener("focus", follow);
  answered.addEventListener("answer", () => {
    if (retry !== null) follow(); // it answers again
  });
  follow();
  return follow;
}

// The source of a page that has a server; see source.js. The tree is requested at once,
// so that the page can play on without the server.
export function openServer() {
  let tree = null;
  const readTree = () => {
    tree ??= getJson("/static/tic_tac_toe.json").catch((error) => {
      tree = null; // the next caller asks again
      throw error;
    });
    return tree;
  };
  readTree().catch(() => {}); // a caller that needs it gets the reason
  return {
    live: true,
    agents: () => getJson("/api/agents"),
    file: async (id, update = null) => {
      const response = await request("GET", `/api/agents/file?${query(id, update)}`);
      return response.arrayBuffer();
    },
    history: async (id) => (await getJson(`/api/agents/history?${query(id)}`)).rows,
    remove: (id) => request("DELETE", `/api/agents?${query(id)}`),
    tree: readTree,
    training: {
      isHere: false, // the server trains
      // What these change comes with the events.
      command: (command, learner = undefined) => request("POST", "/api/training", { command, learner }),
      change: (settings) => request("PATCH", "/api/training/settings", settings),
      learn: (moves) => request("POST", "/api/training/games", { moves }),
      listen,
    },
  };
}
