// Trainings of the page's learners, for tests/web/test_learner.py.
//
//   node learner_run.mjs STATIC settings | train FOLDER LEARNER SEED... | direct | games | diverge | pace

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, name, out, learnerName, ...seeds] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(`${folder}/${file}`));
const { Rules } = await load("engine/rules.js");
const { readAgent } = await load("files/agent_file.js");
const { writeAgent } = await load("files/agent_writer.js");
const { asRead } = await load("engine/learned_agent.js");
const { LEARNERS, configWith } = await load("engine/learner_settings.js");
const { LearningRun, PacedRun } = await load("engine/learning_run.js");
const { makePlayer } = await load("engine/players.js");

const rules = new Rules("tic_tac_toe");
const { cells } = JSON.parse(readFileSync(`${folder}/tic_tac_toe.json`));

function begin(options, speed, post = () => {}) {
  const run = new LearningRun(rules, cells, options);
  const paced = new PacedRun(run, { speed, post });
  return { paced, result: paced.train() };
}

function valuesAtStart(agent) {
  return [...makePlayer(rules, agent, cells).values(rules.start)];
}

async function train(learner, seed) {
  const rows = [];
  const shares = [];
  const { result } = begin({ learner, seed }, Infinity, ({ row }) => {
    if (row === null) return;
    rows.push(row.update);
    shares.push(row.grade.first.win_rate);
  });
  const { agent, ...report } = await result;
  const bytes = await writeAgent(agent);
  const file = `${learner}-${seed}.safetensors`;
  writeFileSync(`${out}/${file}`, Buffer.from(bytes));
  const values = valuesAtStart(asRead(agent));
  return {
    ...{ ...report, learner, seed, rows, shares, file, values },
    "read values": valuesAtStart(await readAgent(bytes)),
  };
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

const PROGRAMS = {
  settings() {
    return Object.fromEntries(
      Object.entries(LEARNERS).map(([learner, entry]) => {
        const lowest = Object.entries(entry.sliders).map(([slider, [low]]) => [slider, low]);
        return [learner, { ...entry, moved: configWith(learner, Object.fromEntries(lowest)) }];
      }),
    );
  },

  async train() {
    const reports = [];
    for (const seed of seeds) reports.push(await train(learnerName, Number(seed)));
    return reports;
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

process.stdout.write(JSON.stringify(await PROGRAMS[name]()));
