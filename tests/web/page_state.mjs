// Visits of the whole page in Node, for tests/web/test_page_state.py. A few lines take the place
// of the browser, and the page's timers are a hundred times as fast.
//
//   node page_state.mjs STATIC VISIT AGENT...

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Worker as Thread } from "node:worker_threads";

const [folder, visit, ...paths] = process.argv.slice(2);

class Storage {
  getItem(name) {
    return this[name] ?? null;
  }

  setItem(name, text) {
    this[name] = text;
  }

  removeItem(name) {
    delete this[name];
  }
}

// The addresses of the tab. `follow` is a click on a link, or an address that the person types.
const history = {
  entries: [{ hash: "", state: null }],
  at: 0,
  get state() {
    return this.entries[this.at].state;
  },
  pushState(state, _, hash = location.hash) {
    this.at += 1;
    this.entries.splice(this.at, Infinity, { hash, state });
  },
  replaceState(state, _, hash) {
    this.entries[this.at] = { hash, state };
  },
  follow(hash) {
    this.pushState(null, "", hash);
  },
};
const location = {
  href: "http://page/",
  get hash() {
    return history.entries[history.at].hash;
  },
};

const said = []; // to screen readers
const elements = new Map();
function element(id) {
  const isLive = id.startsWith("live-");
  return {
    scrollIntoView() {},
    set textContent(text) {
      if (isLive && text) said.push(text);
    },
  };
}
const document = {
  hidden: false,
  getElementById(id) {
    if (!elements.has(id)) elements.set(id, element(id));
    return elements.get(id);
  },
};

const IN_THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
globalThis.postMessage = (message, buffers) => parentPort.postMessage(message, buffers);
globalThis.onmessage = null;
import(workerData).then(() => parentPort.on("message", (data) => onmessage({ data })));
`;
class Worker {
  constructor(address) {
    this.thread = new Thread(IN_THREAD, { eval: true, workerData: address });
    this.thread.on("message", (data) => this.onmessage({ data }));
    this.thread.on("error", (error) =>
      this.onerror({ message: error.message, preventDefault() {} }),
    );
  }

  postMessage(message) {
    this.thread.postMessage(message);
  }

  terminate() {
    this.thread.terminate();
  }
}

const wait = globalThis.setTimeout;
Object.assign(globalThis, { document, history, location, Worker });
Object.assign(globalThis, { localStorage: new Storage(), sessionStorage: new Storage() });
Object.assign(globalThis, { window: { addEventListener() {} } });
Object.assign(globalThis, { matchMedia: () => ({ matches: false }) });
Object.assign(globalThis, { setTimeout: (call, time = 0) => wait(call, time / 100) });

const load = (name) => import(pathToFileURL(`${folder}/${name}`));
const { effect } = await load("vendor/preact.js");
const { readAgent } = await load("files/agent_file.js");
const { makeState } = await load("state/page_state.js");
const { checkAllLines } = await load("state/checks.js");

const sleep = (time) => new Promise((resolve) => wait(resolve, time));

async function until(isSo) {
  const begin = performance.now();
  while (!isSo()) {
    if (performance.now() - begin > 60_000) throw new Error(`it never holds: ${isSo}`);
    await sleep(1);
  }
}

// Open the page at an address, with the agents of the files.
async function open(hash = "") {
  const files = paths.map((path) => new Uint8Array(readFileSync(path)).buffer);
  const agents = await Promise.all(
    files.map(async (bytes, i) => {
      const { envId, kind, updates } = await readAgent(bytes);
      const names = { id: `run/${i}`, name: `${i}`, source: "run", env_id: envId };
      return { ...names, kind, updates, stamp: "", snapshots: [] };
    }),
  );
  history.replaceState(null, "", hash);
  const page = makeState({
    live: false,
    agents: async () => ({ agents, refused: [] }),
    file: async (id) => files[Number(id.slice(4))],
    history: async () => [],
    tree: async () => JSON.parse(readFileSync(`${folder}/tic_tac_toe.json`, "utf-8")),
    worker: pathToFileURL(`${folder}/worker.js`).href,
  });
  await page.navigation.start();
  await page.agents.ready;
  return page;
}

const VISITS = {
  // The game and the choices where a browser has kept values that are wrong inside.
  async kept() {
    const keep = (storage, name, value) =>
      storage.setItem(`jax_ttt.${name}`, JSON.stringify(value));
    const wrong = { level: "valueOf", side: "z", agent: 1, depth: 5 };
    const games = { tic_tac_toe: null, connect_5x4: [1], connect_7x6: wrong };
    keep(localStorage, "games", games);
    keep(localStorage, "page", { game: null, layers: ["valueOf", "exact", 1] });
    keep(localStorage, "statistics", { games: [1] });
    const left = { moves: [4, 0], side: "x", opponent: { level: "constructor" } };
    keep(sessionStorage, "game.tic_tac_toe", left);
    const { play, settings, statistics } = await open();
    const { envId } = settings.rules;
    const choices = Object.keys(games).map((name) => settings.choicesFor(name));
    const layers = [...settings.layers];
    return { envId, moves: play.game.moves, layers, choices, counted: statistics.games };
  },

  // The game after links, the button Back, and a move while an address is not followed yet.
  async links() {
    const link = (moves) => `#game=connect_7x6&moves=${moves}&level=analysis`;
    const page = await open(link("4.4.1"));
    const shown = [];
    const note = () => shown.push([page.play.game.rules.envId, page.play.game.moves]);
    note();
    history.follow(link("2"));
    page.play.act(6);
    const typed = location.hash;
    page.navigation.followAddress();
    note();
    history.at -= 1;
    page.navigation.followAddress();
    note();
    page.navigation.openGame("tic_tac_toe");
    page.play.act(8);
    note();
    const { hash } = location;
    history.at -= 1;
    page.navigation.followAddress();
    note();
    return { shown, typed, hash, entries: history.entries.length };
  },

  // The boards of the first screen, until it has shown three games.
  async show() {
    const numbers = [0, 0.5, 0.99];
    Math.random = () => numbers.shift() ?? 0.3;
    const page = await open();
    const { rules } = page.settings;
    const boards = [];
    effect(() => {
      const { position } = page.selfPlay;
      if (position) boards.push(rules.key(position));
    });
    await until(() => boards.filter((board) => board === rules.key(rules.start)).length > 3);
    page.selfPlay.pause();
    await sleep(100);
    const shown = boards.length;
    await sleep(100);
    const isPaused = boards.length === shown;
    page.play.openPanel("settings");
    const { position, values } = page.selfPlay;
    return { boards, isPaused, after: { position, values }, moves: page.play.game.moves };
  },

  // What is said in a game in which O's first move gives the draw away, and values are shown then;
  // and in an analysis with another such move.
  async mistake() {
    const page = await open("#game=tic_tac_toe&moves=&side=o&level=full");
    const { play } = page;
    await until(() => play.game.isPersonsTurn && play.opponent.loaded);
    play.act(1);
    await until(() => play.game.isPersonsTurn && page.shown.marks()[1]);
    page.shown.showLayer("numbers", true);
    play.setMode("analysis");
    play.newGame();
    for (const action of [1, 3]) play.act(action);
    await until(() => page.shown.marks()[1]);
    return { said, panel: page.settings.panel };
  },

  // What is known of the first agent where its check is stopped. Then what a check of all lines
  // says of each agent, and whether that is a problem.
  async checks() {
    const page = await open("#game=tic_tac_toe&moves=&tab=proof");
    const { engine } = page.grades;
    await until(() => engine.clients.grade.waiting.size > 0);
    engine.stopGrade();
    await until(() => page.grades.computed.size > 0);
    const stopped = page.grades.verdictOf(page.selection.loaded, "x");
    const checks = [];
    for (const { id } of page.agents.list) {
      page.play.select(id);
      await until(() => page.selection.loaded?.id === id);
      await checkAllLines(page);
      const { text, isProblem } = page.grades.proofCheck;
      checks.push([text.split(", followed by")[0], isProblem]);
    }
    return { stopped, checks };
  },

  // What the tab "Learn" is about, and what is on the board: before and in a training of a table,
  // in another game, and after a move; and how many games of the person the table learns.
  async learn() {
    const page = await open();
    const { learn, navigation, play } = page;
    const seen = [];
    const note = () => {
      const { onBoard, shownCurves, subject, training } = learn;
      const choices = learn.choices.map(([name]) => name);
      const isTraining = { subject: subject.learning === training, board: onBoard === training };
      seen.push({ ...isTraining, choices, title: shownCurves.title });
    };
    note();
    learn.watchOne();
    learn.training.learnsFromPeople = true;
    await until(() => learn.training.rows.length > 0);
    note();
    navigation.openGame("connect_5x4");
    note();
    navigation.openGame("tic_tac_toe");
    await until(() => play.game.isPersonsTurn);
    play.act(0);
    note();
    while (!play.game.isOver) {
      await until(() => play.game.isPersonsTurn || play.game.isOver);
      play.act(play.game.rules.legal(play.game.position)[0]);
    }
    await until(() => learn.training.figures.people_games > 0);
    return { seen, games: learn.training.figures.people_games };
  },
};

const result = JSON.stringify(await VISITS[visit]());
process.stdout.write(result, () => process.exit(0)); // the page's threads would go on
