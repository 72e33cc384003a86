// The training of an agent in this page: its commands, its state and its agents. The updates
// run in a worker.

import { LEARNERS, checkMoved, startOf } from "../engine/learner_settings.js";
import { LETTERS, rulesOf } from "../engine/rules.js";
import { PLACE } from "../files/storage.js";
import { batch } from "../vendor/preact.js";
import { LIVE } from "./agents.js";
import { Learning } from "./learning.js";
import { confirmed, say } from "./messages.js";
import { observe } from "./observe.js";
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
  engine;
  learner = "table"; // that learns, or that the person chose to learn next
  moved = { table: {}, network: {} }; // sliders, by learner
  learnsFromPeople = false;
  seedText = ""; // the seed of the next trainings; where it is empty, any
  run = null; // { id, learner, seed }
  settings = {}; // of the next update
  error = "";

  constructor(parts, calls) {
    super(parts, calls);
    this.engine = parts.engine;
    observe(this, "learner", "moved", "learnsFromPeople", "seedText", "run", "settings", "error");
    Object.assign(this, { rules: rulesOf(ENV_ID), figures: firstFigures(this.learner) });
    this.page = crypto.getRandomValues(new Uint32Array(1))[0].toString(16); // names this load
    this.numRuns = 0;
    this.shownAt = 0; // the time of the last message that was shown
  }

  get agentId() {
    return this.agents.live?.id ?? null;
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

  // ---- commands

  // Train a table at once, on the board of its game; a training that goes on is shown.
  watchOne() {
    this.openOwnGame();
    if (this.isBusy) return;
    this.learner = "table";
    this.start();
  }

  // Start a training, which ends the one before.
  start() {
    const { learner } = this;
    const drawn = 1 + Math.floor(MAX_DRAWN_SEED * Math.random());
    const typed = Number(this.seedText);
    const isSeed = Number.isInteger(typed) && typed >= 0 && typed <= MAX_SEED;
    const seed = this.seedText !== "" && isSeed ? typed : drawn;
    this.forgetRun();
    this.numRuns += 1;
    const run = { id: `${LIVE}${this.page}-${this.numRuns}`, learner, seed };
    batch(() => {
      Object.assign(this, { run, settings: {} });
      this.setState("running");
      this.showCurves(this);
    });
    const ifCurrent = (use) => (value) => run === this.run && batch(() => use(value));
    const onStep = ifCurrent((message) => this.receive(run, message));
    const settings = this.moved[learner];
    this.engine.learn({ learner, seed, settings, onStep }).then(
      ifCurrent(({ status }) => this.end(status, "")),
      ifCurrent((error) => this.end("failed", error.message)),
    );
  }

  async pause() {
    await this.engine.direct({ name: this.state === "paused" ? "continue" : "pause" });
  }

  async reset() {
    if (!(await confirmed(DELETE, "Delete the training"))) return;
    this.forgetRun();
    this.moved = { table: {}, network: {} };
    this.showCurves(null);
    await this.engine.direct({ name: "stop" });
  }

  // Forget the training. A game against its agent goes on with the agent that it has.
  forgetRun() {
    const { agentId, agents, play, run } = this;
    batch(() => {
      this.clear();
      Object.assign(this, { run: null, error: "", figures: firstFigures(this.learner) });
      this.setState("idle");
      agents.live = null;
    });
    this.shownAt = 0;
    if (agentId !== null) play.letGo(agentId, `the ${run.learner} of an earlier training`);
  }

  // Take over a message of `PacedRun`.
  receive(run, { status, row, agent, settings, ...figures }) {
    const now = performance.now();
    const isNews = row !== null || status !== this.state || now - this.shownAt > SHOW_EVERY;
    if (!isNews) return;
    this.shownAt = now;
    Object.assign(this, { settings, figures });
    this.setState(status);
    if (row !== null) this.addEvaluation(run, row, agent);
  }

  addEvaluation({ id, learner }, row, agent) {
    const { agents } = this;
    const isFirst = agents.live === null;
    const { snapshots: earlier = [], stamp: before = 0 } = agents.live ?? {};
    const stamp = before + 1;
    const snapshots = new Map([...earlier, [row.update, { ...agent, stamp }]]);
    this.addRows([row]);
    agents.live = { id, learner, envId: ENV_ID, stamp, snapshots };
    if (isFirst) this.showAtStart();
    else this.play.renewOpponent(id);
    this.celebrateProof();
  }

  end(state, error) {
    this.error = error;
    this.setState(state);
  }

  // Keep the agent in this browser, under a name.
  async save(name) {
    const { agents } = this;
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
    const current = run?.learner === learner ? this.settings : {};
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
    const chosen = Object.fromEntries(entries.filter(([, value]) => value !== null));
    this.moved = { ...moved, [learner]: chosen };
    if (run?.learner !== learner) return;
    // A finished run reports no other value.
    const left = Object.entries(this.settings).filter(([name]) => settings[name] !== null);
    this.settings = Object.fromEntries(left);
    await this.engine.direct({ name: "change", settings });
  }

  setDefaults() {
    const names = Object.keys(this.sliders);
    return this.move(Object.fromEntries(names.map((name) => [name, null])));
  }

  // Let the agent learn a finished game of the person, also after the end of its training.
  async learnFrom({ envId, moves }) {
    const { agentId, run, state } = this;
    if (!this.learnsFromPeople || envId !== ENV_ID) return;
    if (agentId === null || state === "failed") return;
    const message = await this.engine.direct({ name: "learn", moves });
    if (run === this.run) batch(() => this.receive(run, message));
  }
}
