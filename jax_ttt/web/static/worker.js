// The page's Web Worker: it computes the tasks that engine.js posts, one after another.

import { Rules } from "./rules.js";
import { readAgent } from "./agent_file.js";
import { makePlayer } from "./players.js";
import { gradeOf, lookaheadValues, solve } from "./search.js";

const PROGRESS_EVERY = 100; // milliseconds

const games = new Map(); // name of a game -> its rules
const files = new Map(); // key of an agent -> { bytes, rows }, as they were posted
const players = new Map(); // key of an agent -> its player

function rulesOf(envId) {
  if (!games.has(envId)) games.set(envId, new Rules(envId));
  return games.get(envId);
}

function playerOf(envId, { key, bytes, rows }) {
  if (bytes) files.set(key, { bytes, rows });
  if (!players.has(key)) {
    const file = files.get(key);
    const agent = readAgent(file.bytes);
    if (agent.envId !== envId) {
      throw new Error(`the agent plays ${agent.envId}, not ${envId}`);
    }
    players.set(key, makePlayer(rulesOf(envId), agent, file.rows));
  }
  return players.get(key);
}

const TASKS = {
  values({ envId, position, depth }, message) {
    const player = playerOf(envId, message);
    const values = lookaheadValues(rulesOf(envId), player, position, depth);
    return { values: [...values], move: player.choose(position, values), depth };
  },

  exact({ envId, position, seconds }) {
    return solve(rulesOf(envId), position, seconds);
  },

  grade({ envId }, message) {
    const player = playerOf(envId, message);
    const grade = gradeOf(rulesOf(envId), player);
    let shown = 0;
    for (;;) {
      const { done, value } = grade.next();
      if (done) return value;
      if (Date.now() - shown > PROGRESS_EVERY) {
        shown = Date.now();
        postMessage({ number: message.number, progress: value });
      }
    }
  },
};

onmessage = ({ data }) => {
  const { number, task } = data;
  try {
    postMessage({ number, result: TASKS[task.name](task, data) });
  } catch (error) {
    postMessage({ number, error: error.message });
  }
};
