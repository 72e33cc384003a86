// A training in the page's worker: updates, and after every few of them an evaluation, at a
// pace at which it can be watched.

import { asRead, gradeRecord } from "./learned_agent.js";
import { Learner, Table, makeGraph, randomNumbers } from "./learner.js";
import { LEARNERS, checkMoved, configWith } from "./learner_settings.js";
import { Network } from "./network_learner.js";
import { makePlayer } from "./players.js";
import { gradeOf } from "./search.js";

const MESSAGE_EVERY = 50; // milliseconds
const MAX_BEHIND = 200; // milliseconds of the pace that are caught up

// A number between a start and an end, by the number of the update: the last update has
// the end.
function linear(start, end, update, numUpdates) {
  const share = Math.min(update / Math.max(numUpdates - 1, 1), 1);
  return start + share * (end - start);
}

// Updates and evaluations of one agent.
export class LearningRun {
  rules; cells; learner; seed;

  // `learner` is a name of LEARNERS, `seed` an integer from 0 to 2 ** 32 - 1, `settings` are
  // moved sliders: see `change`. `cells` is as in tic_tac_toe.json.
  constructor(rules, cells, { learner, seed, settings = {} }) {
    Object.assign(this, { rules, cells, learner, seed });
    this.moved = {};
    this.config = LEARNERS[learner].config;
    this.graph = makeGraph(rules, cells);
    this.random = randomNumbers(seed);
    this.model =
      this.config.network === "table"
        ? new Table(this.graph, this.config)
        : new Network(this.graph, this.config, this.random);
    this.steps = new Learner(this.graph, this.model, this.config);
    this.uniform = new Float32Array(this.config.num_envs);
    this.numUpdates = 0;
    this.counts = { games: 0, wins: 0, losses: 0 };
    this.losses = []; // of the updates since the last evaluation
    this.loss = null; // their mean
    this.grade = null; // of the last evaluation
    this.evaluatedAt = -1; // the number of updates before it
    this.provenAt = null; // the update from which on every evaluation proves the agent
    this.numPeopleGames = 0; // games of the person that were learned
    this.change(settings);
  }

  get isOver() {
    return this.numUpdates >= this.config.num_updates;
  }

  // Move sliders: { learning_rate, gamma, epsilon }, each a number, or null for its schedule.
  change(settings) {
    checkMoved(this.learner, settings);
    const moved = Object.entries({ ...this.moved, ...settings });
    this.moved = Object.fromEntries(moved.filter(([, value]) => value !== null));
    this.config = configWith(this.learner, this.moved);
  }

  // What the next update learns with.
  get settings() {
    const { numUpdates, config } = this;
    const now = (start, end) => linear(start, end, numUpdates, config.num_updates);
    return {
      learning_rate: now(config.learning_rate, config.learning_rate_end),
      gamma: config.gamma,
      epsilon: now(config.epsilon_start, config.epsilon_end),
    };
  }

  update() {
    for (let game = 0; game < this.uniform.length; game += 1) this.uniform[game] = this.random();
    const { learning_rate: learningRate, gamma, epsilon } = this.settings;
    const result = this.steps.update({ uniform: this.uniform, learningRate, gamma, epsilon });
    this.losses.push(result.loss);
    for (const name of Object.keys(this.counts)) this.counts[name] += result[name];
    this.numUpdates += 1;
  }

  // Learn the moves of a finished game of the person, with the settings of the next update.
  learnGame(actions) {
    const { learning_rate: learningRate, gamma } = this.settings;
    this.steps.learnGame({ actions, learningRate, gamma });
    this.numPeopleGames += 1;
  }

  // Whether the updates so far are to be evaluated now.
  get isDue() {
    return this.numUpdates % this.config.eval_every === 0 || this.isOver;
  }

  // Follow every line of play of the agent. Returns its grade as a record of Python's. Throws
  // an Error if training diverged.
  evaluate() {
    const { agent, rules } = this;
    if (this.model.isSaturated) {
      throw new Error(
        "training diverged: the network's outputs are saturated and its gradient is 0 by " +
          `update ${this.numUpdates}; try a lower learning rate`,
      );
    }
    const player = makePlayer(rules, asRead(agent), this.cells);
    const walk = gradeOf(rules, player);
    let step = walk.next();
    while (!step.done) step = walk.next();
    this.grade = gradeRecord(rules, step.value);
    this.evaluatedAt = this.numUpdates;
    if (!this.grade.unbeatable) this.provenAt = null;
    else this.provenAt ??= this.numUpdates;
    if (this.losses.length > 0) {
      this.loss = this.losses.reduce((sum, loss) => sum + loss, 0) / this.losses.length;
      this.losses = [];
    }
    return this.grade;
  }

  // The agent now, for `writeAgent` and `asRead`; its grade is that of the last evaluation.
  get agent() {
    const { config, seed, numUpdates: updates, grade } = this;
    return { config, seed, updates, grade, tensors: this.model.tensors() };
  }

  // What the page shows of it besides the grade.
  get figures() {
    const { counts, grade } = this;
    return {
      update: this.numUpdates,
      num_updates: this.config.num_updates,
      games: counts.games,
      wins: { x: counts.wins, o: counts.losses },
      draws: counts.games - counts.wins - counts.losses,
      loss: this.loss,
      positions_learned: this.model.numVisited,
      unbeatable: grade && { x: grade.first.unbeatable, o: grade.second.unbeatable },
      proven_at: this.provenAt,
      people_games: this.numPeopleGames,
    };
  }
}

// A run at a pace, which obeys commands. `post(message)` gets
// { status: "running", "paused" or "finished", ...figures, settings, row, agent }: see
// `LearningRun`. `row` is { update, games, loss, seconds, grade } after an evaluation, and else it
// and `agent` are null.
export class PacedRun {
  run; post; speed;

  // `speed` multiplies the pace; Infinity removes it.
  constructor(run, { speed = 1, post }) {
    Object.assign(this, { run, post, speed });
    const { config, seconds } = LEARNERS[run.learner];
    this.pace = config.num_updates / seconds / 1000; // updates a millisecond at speed 1
    this.isPaused = false;
    this.isStopped = false;
    this.hasEnded = false;
    this.milliseconds = 0; // that the updates took
    this.wake = () => {};
  }

  // Obey { name: "pause", "continue", "stop", "change" (with `settings`) or "learn" (with the
  // `moves` of a finished game) }. Returns the message of the evaluation after a game, else
  // null. Throws an Error where a setting is wrong.
  direct({ name, settings, moves }) {
    if (name === "learn") {
      this.run.learnGame(moves);
      return this.message(this.evaluatedRow());
    }
    if (name === "pause") this.isPaused = true;
    else if (name === "continue") this.isPaused = false;
    else if (name === "stop") this.isStopped = true;
    else if (name === "change") this.run.change(settings);
    else throw new Error(`there is no command ${name}`);
    if (!this.run.isOver && !this.isStopped) this.report();
    this.wake();
    return null;
  }

  // Train to the end, or until it is stopped. Resolves to the last message, with the agent;
  // rejects if training diverged.
  async train() {
    const { run } = this;
    this.evaluate();
    let before = performance.now();
    let due = 0; // updates that the pace allows
    while (!run.isOver && !this.isStopped) {
      if (this.isPaused) {
        await new Promise((resolve) => (this.wake = () => resolve(null)));
        before = performance.now();
        continue;
      }
      const begin = performance.now();
      const pace = this.pace * this.speed;
      // A slow machine does not catch up for long.
      due = Math.min(due + Math.max(begin - before, 1) * pace, Math.max(MAX_BEHIND * pace, 1));
      before = begin;
      const done = this.updateUntil(begin + MESSAGE_EVERY, Math.floor(due));
      due = Number.isFinite(due) ? due - done : 0;
      // The commands that have arrived are obeyed before the next updates.
      const rest = Number.isFinite(pace) ? begin + MESSAGE_EVERY - performance.now() : 0;
      await new Promise((resolve) => setTimeout(resolve, Math.max(rest, 0)));
    }
    if (run.evaluatedAt < run.numUpdates) this.evaluate();
    this.hasEnded = true;
    return { ...this.message(null), agent: run.agent };
  }

  // Do at most `most` updates until a time is over, and report the last one. Returns their
  // number.
  updateUntil(end, most) {
    const { run } = this;
    let done = 0;
    while (done < most && !run.isOver && performance.now() < end) {
      const begin = performance.now();
      run.update();
      this.milliseconds += performance.now() - begin;
      done += 1;
      if (run.isDue) this.evaluate();
    }
    if (done > 0 && !run.isDue) this.report();
    return done;
  }

  evaluate() {
    this.post(this.message(this.evaluatedRow()));
  }

  // The row of an evaluation now.
  evaluatedRow() {
    const grade = this.run.evaluate();
    const { games, loss, update } = this.run.figures;
    return { update, games, loss, seconds: this.milliseconds / 1000, grade };
  }

  report() {
    this.post(this.message(null));
  }

  message(row) {
    const { figures, settings } = this.run;
    const going = this.isPaused ? "paused" : "running";
    const status = this.hasEnded ? "finished" : going;
    return { status, ...figures, settings, row, agent: row && this.run.agent };
  }
}
