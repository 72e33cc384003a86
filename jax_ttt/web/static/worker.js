// The page's Web Worker, which computes the tasks that engine.js posts, one by one.

import { checkLines, compareMoves } from "./engine/agent_lines.js";
import { LearningRun, PacedRun } from "./engine/learning_run.js";
import { makePlayer } from "./engine/players.js";
import { rulesOf } from "./engine/rules.js";
import { gradeOf, lookaheadValues } from "./engine/search.js";
import { solve } from "./engine/solver.js";

const PROGRESS_EVERY = 100; // milliseconds

const agents = new Map(); // key of an agent -> { file, rows, player (null until used) }

let training = null; // the PacedRun that was begun last

function playerOf(rules, { key, file, rows, forget }) {
  agents.delete(forget);
  if (file) agents.set(key, { file, rows, player: null });
  const entry = agents.get(key);
  if (entry.player === null) {
    if (entry.file.envId !== rules.envId) {
      throw new Error(`the agent plays ${entry.file.envId}, not ${rules.envId}`);
    }
    entry.player = makePlayer(rules, entry.file, entry.rows);
  }
  return entry.player;
}

// The result of a generator; what it yields is posted as the progress of a request.
function runToEnd(steps, number) {
  let shown = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (Date.now() - shown > PROGRESS_EVERY) {
      shown = Date.now();
      postMessage({ number, progress: value });
    }
  }
}

const TASKS = {
  values({ envId, position, depth }, message) {
    const rules = rulesOf(envId);
    const player = playerOf(rules, message);
    const values = lookaheadValues(rules, player, position, depth);
    const move = player.move(position, depth > 0 ? values : null);
    const isCorrected = player.correction(position) !== null;
    return { values: [...values], move, isCorrected, depth };
  },

  // The next moves of an agent that plays both sides, at most `length`.
  line({ envId, position, depth, length }, message) {
    const rules = rulesOf(envId);
    const player = playerOf(rules, message);
    const moves = [];
    let at = position;
    while (moves.length < length && !rules.isOver(at)) {
      moves.push(player.move(at, depth > 0 ? lookaheadValues(rules, player, at, depth) : null));
      at = rules.after(at, moves.at(-1));
    }
    return moves;
  },

  exact({ envId, position, seconds }) {
    return solve(rulesOf(envId), position, seconds);
  },

  grade({ envId }, message) {
    const rules = rulesOf(envId);
    return runToEnd(gradeOf(rules, playerOf(rules, message)), message.number);
  },

  agentMoves({ envId, moves, side }, message) {
    const rules = rulesOf(envId);
    return compareMoves(rules, playerOf(rules, message), moves, side);
  },

  lines({ envId, side, goal, count }, message) {
    const rules = rulesOf(envId);
    const steps = checkLines(rules, playerOf(rules, message), { side, goal, count });
    return runToEnd(steps, message.number);
  },

  // A new training stops the one before it.
  learn({ envId, cells, learner, seed, settings }, { number }) {
    const post = (progress) => {
      const buffers = progress.agent?.tensors.map(({ values }) => values.buffer) ?? [];
      postMessage({ number, progress }, buffers);
    };
    training?.direct({ name: "stop" });
    const run = new LearningRun(rulesOf(envId), cells, { learner, seed, settings });
    training = new PacedRun(run, { post });
    return training.train();
  },

  direct({ command }) {
    return training?.direct(command) ?? null;
  },
};

onmessage = async ({ data }) => {
  const { number, task } = data;
  try {
    postMessage({ number, result: await TASKS[task.name](task, data) });
  } catch (error) {
    postMessage({ number, error: error.message });
  }
};
