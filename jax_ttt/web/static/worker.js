// The page's Web Worker, which computes the tasks that engine.js posts, one by one.

import { Rules } from "./rules.js";
import { readAgent } from "./agent_file.js";
import { makePlayer } from "./players.js";
import { gradeOf, lookaheadValues, solve } from "./search.js";

const PROGRESS_EVERY = 100; // milliseconds

const games = new Map(); // name of a game -> its rules
const agents = new Map(); // key of an agent -> { bytes, rows, player (null until used) }

function rulesOf(envId) {
  if (!games.has(envId)) games.set(envId, new Rules(envId));
  return games.get(envId);
}

function playerOf(rules, { key, bytes, rows, forget }) {
  agents.delete(forget);
  if (bytes) agents.set(key, { bytes, rows, player: null });
  const entry = agents.get(key);
  if (entry.player === null) {
    const agent = readAgent(entry.bytes);
    if (agent.envId !== rules.envId) {
      throw new Error(`the agent plays ${agent.envId}, not ${rules.envId}`);
    }
    entry.player = makePlayer(rules, agent, entry.rows);
  }
  return entry.player;
}

const TASKS = {
  values({ envId, position, depth }, message) {
    const rules = rulesOf(envId);
    const player = playerOf(rules, message);
    const values = lookaheadValues(rules, player, position, depth);
    return { values: [...values], move: player.choose(position, values), depth };
  },

  exact({ envId, position, seconds }) {
    return solve(rulesOf(envId), position, seconds);
  },

  grade({ envId }, message) {
    const rules = rulesOf(envId);
    const grade = gradeOf(rules, playerOf(rules, message));
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
