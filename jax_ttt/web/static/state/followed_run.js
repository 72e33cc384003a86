// A run that another process trains, and that this page watches by its server.

import { Rules, rulesOf } from "../engine/rules.js";
import { batch } from "../vendor/preact.js";
import { Learning } from "./learning.js";
import { observe } from "./observe.js";
import { number } from "./words.js";

const STATES = { training: "running", ended: "stopped", stopped: "stopped", gone: "gone" };
const NO_FIGURES = { update: 0, num_updates: 0, games: 0, loss: null };

export class FollowedRun extends Learning {
  source;
  name = null; // of the run's folder; null while no run is watched
  plan = /** @type {any} */ ({}); // { env_id, preset, seed, num_updates, kind }; empty if not known
  snapshots = [];
  isLost = false; // whether the server does not answer

  constructor(parts, calls) {
    super(parts, calls);
    this.source = parts.source;
    observe(this, "name", "plan", "snapshots", "isLost");
    Object.assign(this, { state: "waiting", figures: NO_FIGURES });
    this.wasShown = false; // whether its first agent has arrived
    this.close = () => {}; // ends the stream
  }

  // Watch a run; null ends it.
  watch(name) {
    this.close();
    this.close = () => {};
    batch(() => {
      this.clear();
      Object.assign(this, { name, state: "waiting", plan: {}, snapshots: [] });
      Object.assign(this, { rules: null, figures: NO_FIGURES, isLost: false });
      this.showCurves(name === null ? null : this);
    });
    this.wasShown = false;
    if (name === null) return;
    this.close = this.source.follow(
      name,
      (news) => batch(() => this.receive(news)),
      (isConnected) => {
        this.isLost = !isConnected;
      },
    );
  }

  get agentId() {
    return this.rules === null || this.snapshots.length === 0 ? null : `run/${this.name}`;
  }

  get details() {
    const { seed, preset } = this.plan;
    const plan = seed === undefined ? "" : `, preset ${preset}, seed ${seed}`;
    return plan + (this.isLost ? ". The server does not answer; this was its last state." : "");
  }

  // The figures in words: [[name, text]].
  get cards() {
    const { games, loss } = this.figures;
    return [
      ["Games", number(games)],
      ["Loss", typeof loss === "number" ? loss.toPrecision(2) : "–"],
    ];
  }

  // Take over news: see `News` in web/followed_runs.py.
  receive({ state, is_first: isFirst, plan, snapshots, rows, counts }) {
    const newest = this.snapshots.at(-1);
    const isKnown = this.state !== "waiting";
    const before = this.state;
    if (isFirst) {
      this.rows = [];
      this.figures = NO_FIGURES;
    }
    this.addRows(rows);
    Object.assign(this, { plan, snapshots });
    const { env_id: envId = "", num_updates = 0 } = plan;
    this.rules = Rules.knows(envId) ? rulesOf(envId) : null;
    this.figures = { ...this.figures, ...counts, num_updates };
    const { update } = this.figures;
    const isFinished = state === "ended" && (update >= num_updates || this.provenAt !== null);
    this.setState(isFinished ? "finished" : STATES[state]);
    if (!isKnown) this.wasProven = this.provenAt !== null;
    else if (rows.length > 0) this.celebrateProof();
    // The list has the run as an agent, which is the newest snapshot or, at the end, another.
    if (snapshots.at(-1) !== newest || this.state !== before) this.refreshAgent();
  }

  async refreshAgent() {
    const { name } = this;
    const refresh = () => this.agents.refresh();
    // There may be no later news; without an answer the list stays.
    await refresh().catch(refresh).catch(() => {});
    if (name !== this.name || this.entry === null) return;
    const isFirst = !this.wasShown;
    this.wasShown = true;
    if (isFirst) this.showAtStart();
    else this.play.renewOpponent(this.agentId);
  }
}
