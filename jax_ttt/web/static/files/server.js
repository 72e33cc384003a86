// The page's requests to the server, and the events of runs.

const RETRY = 30_000; // milliseconds

const answered = new EventTarget(); // has an event "answer" after each answer

// A request that was refused or not answered; its message is for people.
class RequestError extends Error {}

async function request(path) {
  let response;
  try {
    response = await fetch(path);
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
  return (await request(path)).json();
}

function query(id, update = null) {
  const parameters = new URLSearchParams({ agent: id });
  if (update !== null) parameters.set("update", update);
  return parameters;
}

// Follow a run by its events while the tab is visible: a browser allows six connections to a
// server, and each stream holds one. `onNews(news)` gets the messages, see `News` in
// web/followed_runs.py, and `onConnection(isConnected)` whether the server answers. Returns a
// function that ends it.
function follow(run, onNews, onConnection) {
  const ended = new AbortController();
  const { signal } = ended;
  let events = null; // the stream, if there is one
  let retry = null; // the timer of the next attempt, if the server did not answer

  function close() {
    clearTimeout(retry);
    retry = null;
    events?.close();
    events = null;
  }

  function open() {
    if (events || document.hidden) return;
    close();
    events = new EventSource(`/api/runs/events?${new URLSearchParams({ run })}`);
    events.addEventListener("open", () => onConnection(true));
    events.addEventListener("run", (event) => onNews(JSON.parse(event.data)));
    events.addEventListener("error", () => {
      close();
      onConnection(false);
      retry = setTimeout(open, RETRY);
    });
  }

  const change = () => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", change, { signal });
  window.addEventListener("focus", open, { signal });
  const answer = () => retry !== null && open(); // it answers again
  answered.addEventListener("answer", answer, { signal });
  open();
  return () => {
    ended.abort();
    close();
  };
}

// The source of a page that has a server; see source.js.
export function openServer() {
  let tree = null;
  const readTree = () => {
    tree ??= getJson("/static/tic_tac_toe.json").catch((error) => {
      tree = null; // the next caller asks again
      throw error;
    });
    return tree;
  };
  return {
    live: true,
    agents: () => getJson("/api/agents"),
    file: async (id, update = null) => {
      const response = await request(`/api/agents/file?${query(id, update)}`);
      return response.arrayBuffer();
    },
    history: async (id) => (await getJson(`/api/agents/history?${query(id)}`)).rows,
    tree: readTree,
    worker: "/static/worker.js",
    follow,
  };
}
