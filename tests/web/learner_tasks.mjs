// What the page's learners do, for tests/web/test_learner.py: `node learner_tasks.mjs FOLDER`,
// with the folder of the page's modules. Reads tasks and prints results as page_tasks.mjs does.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(`${folder}/${file}`));
const { Rules } = await load("engine/rules.js");
const { readAgent } = await load("files/agent_file.js");
const { writeAgent } = await load("files/agent_writer.js");
const { asRead } = await load("engine/learned_agent.js");
const { Learner, Table, makeGraph } = await load("engine/learner.js");
const { LEARNERS, configWith } = await load("engine/learner_settings.js");
const { LearningRun, PacedRun } = await load("engine/learning_run.js");
const { Network } = await load("engine/network_learner.js");
const { makePlayer } = await load("engine/players.js");

const rules = new Rules("tic_tac_toe");
const { cells } = JSON.parse(readFileSync(`${folder}/tic_tac_toe.json`));
const graph = makeGraph(rules, cells);

const floats = (text) => new Float32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
const textOf = ({ buffer }) => Buffer.from(buffer).toString("base64");

// The lists of a model that an update changes, by their names in Python.
function listsOf(model) {
  if (model instanceof Table) return { params: model.values, target: model.targetValues };
  const { params, targetParams, averageParams, means, squares } = model;
  return { params, target: targetParams, average: averageParams, means, squares };
}

function begin(options, speed, post = () => {}) {
  const run = new LearningRun(rules, cells, options);
  const paced = new PacedRun(run, { speed, post });
  return { paced, result: paced.train() };
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Replace this process's clock by one that only waiting moves, so that the machine's speed
// does not matter. Returns a function that lets so many milliseconds pass.
function stopClock() {
  const realTimeout = setTimeout;
  let now = 0;
  let timers = [];
  performance.now = () => now;
  globalThis.setTimeout = (callback, milliseconds = 0) => {
    timers.push({ at: now + milliseconds, callback });
  };
  return async (milliseconds) => {
    const end = now + milliseconds;
    while (now < end) {
      now = Math.min(end, ...timers.map(({ at }) => at));
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { callback } of due) callback();
      await new Promise((resolve) => realTimeout(resolve, 0)); // so that all that waited goes on
    }
  };
}

const TASKS = {
  // A learner's state after an update.
  update({ config, before, numbers }) {
    const isTable = config.network === "table";
    const model = isTable ? new Table(graph, config) : new Network(graph, config, () => 0.5);
    const learner = new Learner(graph, model, config);
    learner.positions.set(before.positions);
    const lists = Object.entries(listsOf(model));
    for (const [name, list] of lists) list.set(floats(before.lists[name]));
    if (isTable) model.visited.set(before.visited);
    else model.steps = before.steps;
    const { loss, ...counts } = learner.update({ ...numbers, uniform: floats(numbers.uniform) });
    return {
      actions: [...learner.actions],
      positions: [...learner.positions],
      visited: isTable ? [...model.visited] : null,
      counts,
      loss,
      lists: Object.fromEntries(lists.map(([name, list]) => [name, textOf(list)])),
    };
  },

  settings() {
    return Object.fromEntries(
      Object.entries(LEARNERS).map(([learner, entry]) => {
        const lowest = Object.entries(entry.sliders).map(([slider, [low]]) => [slider, low]);
        return [learner, { ...entry, moved: configWith(learner, Object.fromEntries(lowest)) }];
      }),
    );
  },

  // What a whole training reports; its agent's file is written.
  async train({ learner, seed, file }) {
    const rows = [];
    const { result } = begin({ learner, seed }, Infinity, ({ row }) => row && rows.push(row));
    const { agent, ...report } = await result;
    const bytes = await writeAgent(agent);
    writeFileSync(file, Buffer.from(bytes));
    const values = [asRead(agent), await readAgent(bytes)].map((one) => {
      return [...makePlayer(rules, one, cells).values(rules.start)];
    });
    return { ...report, rows, values };
  },

  async direct() {
    const messages = [];
    const options = { learner: "table", seed: 4, settings: { gamma: 0.9 } };
    const { paced, result } = begin(options, 1, (message) => messages.push(message));
    await sleep(300);
    paced.direct({ name: "pause" });
    const paused = messages.at(-1);
    await sleep(300);
    const later = paced.run.numUpdates;
    paced.direct({ name: "change", settings: { learning_rate: 0.5, epsilon: 0.2 } });
    const changed = messages.at(-1).settings;
    paced.direct({ name: "change", settings: { epsilon: null } });
    const again = messages.at(-1).settings;
    const refused = [
      { name: "change", settings: { epsilon: 2 } },
      { name: "change", settings: { tau: 0.5 } },
      { name: "rewind" },
    ].map((command) => {
      try {
        return paced.direct(command);
      } catch (error) {
        return error.message;
      }
    });
    paced.direct({ name: "continue" });
    await sleep(300);
    paced.direct({ name: "stop" });
    const { update, agent } = await result;
    const { config, updates } = await readAgent(await writeAgent(agent));
    return {
      paused: paused.status,
      "updates while paused": later - paused.update,
      changed,
      "schedule again": again,
      refused,
      "stopped at": update,
      "file's updates": updates,
      "file's settings": { learning_rate: config.learning_rate, gamma: config.gamma },
    };
  },

  // The agent's value of each move of a game before and after it learned this game untrained,
  // and the evaluations after games in a training and after its end.
  async games() {
    const moves = [0, 3, 1, 4, 2]; // X wins
    const reports = {};
    for (const learner of ["table", "network"]) {
      const run = new LearningRun(rules, cells, { learner, seed: 3 });
      const values = () => {
        const player = makePlayer(rules, asRead(run.agent), cells);
        const positions = rules.positions(moves).slice(0, -1);
        return positions.map((position, ply) => player.values(position)[moves[ply]]);
      };
      const before = values();
      run.learnGame(moves);
      const after = values();
      reports[learner] = { before, after };
    }
    const { paced, result } = begin({ learner: "table", seed: 3 }, 1);
    await sleep(100);
    paced.speed = Infinity;
    const messages = [paced.direct({ name: "learn", moves })];
    await result;
    messages.push(paced.direct({ name: "learn", moves }));
    reports.evaluations = messages.map(({ status, people_games: games, row, agent }) => {
      return { status, games, row: row.update, agent: agent.updates };
    });
    return reports;
  },

  async diverge() {
    const options = { learner: "network", seed: 1, settings: { learning_rate: 0.1 } };
    return begin(options, Infinity).result.catch((error) => error.message);
  },

  async pace() {
    const pass = stopClock();
    let messages = 0;
    const { paced, result } = begin({ learner: "table", seed: 5 }, 1, () => (messages += 1));
    await pass(2000);
    const report = { messages, updates: paced.run.numUpdates, seconds: 2 };
    paced.direct({ name: "stop" });
    await pass(1000); // the turn that waits ends it
    await result;
    return report;
  },
};

const results = [];
for (const [task, options] of JSON.parse(readFileSync(0, "utf-8"))) {
  results.push(await TASKS[task](options));
}
process.stdout.write(JSON.stringify(results));
