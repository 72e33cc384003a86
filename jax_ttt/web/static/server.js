// The page's requests to the server, and the events of training.

const EVENTS = "jax_ttt.events"; // the name of the lock and of the channel
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

async function json(method, path, body) {
  const text = await (await request(method, path, body)).text();
  return text ? JSON.parse(text) : null;
}

function query(id, update = null) {
  const parameters = new URLSearchParams({ agent: id });
  if (update !== null) parameters.set("update", update);
  return parameters;
}

// Open the stream of events; returns a function that closes it. `onMessage` gets the
// status of the training: the first one after a connection has all rows, a later one has
// those that are new.
function openEvents(onMessage, onConnection) {
  let events = null;
  let retry = null;

  function open() {
    events = new EventSource("/api/training/events");
    events.addEventListener("open", () => onConnection(true));
    events.addEventListener("training", (event) => onMessage(JSON.parse(event.data)));
    events.addEventListener("error", () => {
      events.close();
      onConnection(false);
      retry = setTimeout(open, RETRY);
    });
  }

  // Do not wait for the timer when the person returns to the page, or when the server
  // answers another request.
  function openAgain() {
    if (events.readyState !== EventSource.CLOSED) return;
    clearTimeout(retry);
    open();
  }

  open();
  window.addEventListener("focus", openAgain);
  answered.addEventListener("answer", openAgain);
  return () => {
    window.removeEventListener("focus", openAgain);
    answered.removeEventListener("answer", openAgain);
    clearTimeout(retry);
    events.close();
  };
}

// A browser allows six connections to a server, and each stream holds one. So one tab of
// a browser has the stream, and passes the messages on to the others.
function shareEvents(onMessage, onConnection) {
  const channel = new BroadcastChannel(EVENTS);
  channel.addEventListener("message", ({ data }) => {
    if (data.message) onMessage(data.message);
    else onConnection(data.connected);
  });
  const hold = () =>
    new Promise(() => {
      openEvents(
        (message) => {
          onMessage(message);
          channel.postMessage({ message });
        },
        (connected) => {
          onConnection(connected);
          channel.postMessage({ connected });
        },
      );
    });
  navigator.locks.request(EVENTS, hold);
}

// Without locks (a page that is not from this computer and has no TLS), the visible tabs
// have a stream each.
function openWhileVisible(onMessage, onConnection) {
  let close = null;

  function follow() {
    if (document.hidden) {
      close?.();
      close = null;
    } else close ??= openEvents(onMessage, onConnection);
  }

  document.addEventListener("visibilitychange", follow);
  follow();
}

// The source of a page that has a server; see source.js. The tree is requested at once,
// so that the page can play on without the server.
export function openServer() {
  const tree = json("GET", "/static/tic_tac_toe.json");
  tree.catch(() => {}); // a caller that needs it gets the reason
  return {
    live: true,
    agents: () => json("GET", "/api/agents"),
    file: async (id, update = null) => {
      const response = await request("GET", `/api/agents/file?${query(id, update)}`);
      return response.arrayBuffer();
    },
    history: async (id) => (await json("GET", `/api/agents/history?${query(id)}`)).rows,
    remove: (id) => json("DELETE", `/api/agents?${query(id)}`),
    tree: () => tree,
    training: {
      // Each of these resolves to the status with all rows.
      status: () => json("GET", "/api/training"),
      command: (command, learner) => json("POST", "/api/training", { command, learner }),
      change: (settings) => json("PATCH", "/api/training/settings", settings),
      learn: (moves) => json("POST", "/api/training/games", { moves }),
      listen: navigator.locks ? shareEvents : openWhileVisible,
    },
  };
}
