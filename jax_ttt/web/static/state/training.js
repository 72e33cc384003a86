// The training of an agent in this page: its commands, its state and its agents. The updates
// run in a worker.

import { LEARNERS, checkMoved, startOf } from "../engine/learner_settings.js";
import { LETTERS, rulesOf } from "../engine/rules.js";
import { PLACE } from "../files/storage.js";
import { LIVE } from "./agents.js";
import { Learning } from "./learning.js";
import { confirmed, say } from "./messages.js";
import { number } from "./words.js";

export const MAX_SEED = 2 ** 32 - 1;
const ENV_ID = "tic_tac_toe";
const SHOW_EVERY = 100; // milliseconds at least between two states without an evaluation
const MAX_DRAWN_SEED = 1000; // so that it is easy to type
const DELETE =
  "Delete this training? Its agent and curves are lost. To keep the agent, save it first.";

// The figures of a learner before its first update.
function firstFigures(learner) {
  return {
    update: 0,
    num_updates: LEARNERS[learner].config.num_updates,
    games: 0,
    wins: { x: 0, o: 0 },
    draws: 0,
    loss: null,
    positions_learned: null,
    people_games: 0,
  };
}

export class Training extends Learning {
  constructor(app) {
    super(app);
    this.state = "idle";
    this.rules = rulesOf(ENV_ID);
    this.page = crypto.getRandomValues(new Uint32Array(1))[0].toString(16); // names this load
    this.learner = "table"; // that learns, or that the person chose to learn next
    this.moved = { table: {}, network: {} }; // sliders, by learner
    this.learnsFromPeople = false;
    this.seedText = ""; // the seed of the next trainings; where it is empty, any
    this.numRuns = 0;
    this.run = null; // { id, learner, seed, settings, snapshots, shownAt }
    this.figures = firstFigures(this.learner);
    this.error = "";
  }

  get agentId() {
    return this.run?.snapshots.size ? this.run.id : null;
  }

  get details() {
    return this.run === null ? "" : `, seed ${this.run.seed}`;
  }

  // The figures in words: [[name, text]].
  get cards() {
    const { games, wins, draws, loss, positions_learned: learned } = this.figures;
    const cards = [
      ["Games", number(games)],
      [`${LETTERS.x} won`, number(wins.x)],
      [`${LETTERS.o} won`, number(wins.o)],
      ["Draws", number(draws)],
      ["Loss", loss === null ? "–" : loss.toPrecision(2)],
    ];
    return learned === null ? cards : [...cards, ["Positions learned", number(learned)]];
  }

  // The agents of the training as entries of the list: one, or none.
  get entries() {
    const { agentId, run } = this;
    if (agentId === null) return [];
    const snapshots = [...run.snapshots.keys()];
    const { learner } = run;
    const names = { id: agentId, name: learner, kind: learner, env_id: ENV_ID };
    return [{ ...names, source: "live", updates: snapshots.at(-1), snapshots }];
  }

  // Its agent at an evaluation, null for the last one: see learned_agent.js. Throws where it is
  // gone.
  learned(id, update) {
    const { run } = this;
    const { updates } = this.entries[0] ?? {};
    const agent = id === run?.id ? run.snapshots.get(update ?? updates) : undefined;
    if (agent === undefined) throw new Error("The agent of this training is gone.");
    return agent;
  }

  // ---- commands

  // Choose what learns next.
  choose(learner) {
    this.learner = learner;
    this.app.changed();
  }

  // Choose the seed of the next trainings by a text; an empty one stands for any.
  chooseSeed(text) {
    this.seedText = text;
    this.app.changed();
  }

  // Train a table at once, on the board of its game; a training that goes on is shown.
  watchOne() {
    this.openGame();
    if (this.isBusy) return;
    this.choose("table");
    this.start();
  }

  // Start a training, which ends the one before.
  start() {
    const { app, learner } = this;
    const drawn = 1 + Math.floor(MAX_DRAWN_SEED * Math.random());
    const typed = Number(this.seedText);
    const isSeed = Number.isInteger(typed) && typed >= 0 && typed <= MAX_SEED;
    const seed = this.seedText !== "" && isSeed ? typed : drawn;
    this.forgetRun();
    this.numRuns += 1;
    const run = {
      id: `${LIVE}${this.page}-${this.numRuns}`,
      learner,
      seed,
      settings: {}, // of the next update
      snapshots: new Map(), // its agents by update
      shownAt: 0, // the time of the last message that was shown
    };
    this.run = run;
    this.setState("running");
    app.showLearning(this);
    const ifCurrent = (use) => (value) => run === this.run && use(value);
    const onStep = ifCurrent((message) => this.receive(run, message));
    const settings = this.moved[learner];
    app.engine.learn({ learner, seed, settings, onStep }).then(
      ifCurrent(({ status }) => this.end(status, "")),
      ifCurrent((error) => this.end("failed", error.message)),
    );
  }

  async pause() {
    await this.app.engine.direct({ name: this.state === "paused" ? "continue" : "pause" });
  }

  async reset() {
    if (!(await confirmed(DELETE, "Delete the training"))) return;
    this.forgetRun();
    this.moved = { table: {}, network: {} };
    this.app.showLearning(null);
    await this.app.engine.direct({ name: "stop" });
  }

  // Forget the training. A game against its agent goes on with the agent that it has.
  forgetRun() {
    const { agentId, run, app } = this;
    this.run = null;
    this.clear();
    this.error = "";
    this.figures = firstFigures(this.learner);
    this.setState("idle");
    if (agentId === null) return;
    app.agents.relist();
    app.play.letGo(agentId, `the ${run.learner} of an earlier training`);
  }

  // Take over a message of `PacedRun`.
  receive(run, { status, row, agent, settings, ...figures }) {
    const now = performance.now();
    const isNews = row !== null || status !== this.state || now - run.shownAt > SHOW_EVERY;
    Object.assign(run, { settings });
    this.figures = /** @type {any} */ (figures);
    if (!isNews) return;
    run.shownAt = now;
    this.setState(status);
    if (row !== null) this.addEvaluation(run, row, agent);
    this.app.changed();
  }

  addEvaluation(run, row, agent) {
    const isFirst = run.snapshots.size === 0;
    this.addRows([row]);
    run.snapshots.set(row.update, agent);
    this.app.agents.relist();
    if (isFirst) this.showAtStart();
    else this.reloadAgent();
    this.celebrateProof();
  }

  end(state, error) {
    this.error = error;
    this.setState(state);
    this.app.changed();
  }

  // Keep the agent in this browser, under a name.
  async save(name) {
    const { agents } = this.app;
    try {
      const { bytes, file } = await agents.load(this.agentId);
      const id = await agents.keep(name.trim() || agents.nameFor(file), await bytes());
      say(`Saved ${PLACE} as "${agents.get(id).name}".`);
    } catch (error) {
      say(error.message);
    }
  }

  // ---- settings

  // The sliders of the learner: { value, min, max, isMoved } by name.
  get sliders() {
    const { learner, run } = this;
    const moved = this.moved[learner];
    const current = run?.learner === learner ? run.settings : {};
    const entries = Object.entries(LEARNERS[learner].sliders).map(([name, [min, max]]) => {
      const value = moved[name] ?? current[name] ?? startOf(learner, name);
      return [name, { value, min, max, isMoved: name in moved }];
    });
    return Object.fromEntries(entries);
  }

  // Move sliders; null moves one back, so that the setting follows its schedule again.
  async move(settings) {
    const { learner, moved, run } = this;
    checkMoved(learner, settings);
    const entries = Object.entries({ ...moved[learner], ...settings });
    moved[learner] = Object.fromEntries(entries.filter(([, value]) => value !== null));
    this.app.changed();
    if (run?.learner !== learner) return;
    for (const [name, value] of Object.entries(settings)) {
      if (value === null) delete run.settings[name]; // a finished run reports no other value
    }
    await this.app.engine.direct({ name: "change", settings });
  }

  setDefaults() {
    const names = Object.keys(this.sliders);
    return this.move(Object.fromEntries(names.map((name) => [name, null])));
  }

  switchPeople(isOn) {
    this.learnsFromPeople = isOn;
    this.app.changed();
  }

  // Let the agent learn a finished game of the person, also after the end of its training.
  async learnFrom({ envId, moves }) {
    const { agentId, run, state } = this;
    if (!this.learnsFromPeople || envId !== ENV_ID) return;
    if (agentId === null || state === "failed") return;
    const message = await this.app.engine.direct({ name: "learn", moves });
    if (run === this.run) this.receive(run, message);
  }
}
