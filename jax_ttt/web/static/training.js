// Live training in the server: its commands, its sliders, and what streams in.

import { announce, button, byId, confirmed, html, number, setText } from "page/dom";
import { SLIDERS, Slider } from "page/slider";

const STATES = {
  idle: "Not started",
  compiling: "Compiling the program…",
  running: "Training",
  paused: "Paused",
  finished: "Finished",
  failed: "Failed",
};
const FIGURES = {
  games: "Games",
  x: "X won",
  o: "O won",
  draws: "Draws",
  loss: "Loss",
  positions: "Positions learned",
};

export class Training extends EventTarget {
  constructor(source) {
    super();
    this.source = source.training;
    this.root = byId("training");
    this.status = null;
    this.rows = [];
    if (this.source) this.build();
    else this.explain();
  }

  explain() {
    byId("train").hidden = true;
    byId("training-details").append(html("p", { class: "note", text: NO_SERVER }));
  }

  build() {
    const learners = ["table", "network"].map((name) => {
      const input = html("input", {
        type: "radio",
        name: "learner",
        value: name,
        checked: name === "table",
      });
      const text = name === "table" ? "Table" : "Network";
      return html("label", { class: "choice" }, input, html("span", { text }));
    });
    this.start = button("Start", () => this.send("start"), { class: "primary" });
    this.pause = button("Pause", () => this.send(this.pause.dataset.command));
    this.reset = button("Reset", () => this.askReset());
    this.state = html("p", { class: "state" });
    this.proof = html("p", { class: "verdict-live" });
    this.bar = html("progress", { max: 1, value: 0, "aria-label": "Updates done" });
    this.figures = {};
    const cards = Object.entries(FIGURES).map(([name, text]) => {
      this.figures[name] = html("dd", { text: "–" });
      return html("div", {}, html("dt", { text }), this.figures[name]);
    });
    this.sliders = SLIDERS.map((name) => new Slider(name, (moved) => this.change(moved)));
    this.people = html("input", {
      type: "checkbox",
      id: "people",
      on: { change: () => this.change({ learn_from_people: this.people.checked }) },
    });
    this.changing = 0; // changes that the server has not answered yet
    this.peopleGames = html("span", { class: "note" });
    this.error = html("p", { class: "problem", role: "alert" });
    this.root.append(
      html(
        "div",
        { class: "controls" },
        html("div", { class: "choices", role: "group", "aria-label": "What learns" }, ...learners),
        html("div", { class: "bar" }, this.start, this.pause, this.reset),
      ),
      html("div", { class: "line" }, this.state, this.proof),
      this.bar,
      this.error,
    );
    byId("training-details").append(
      html("dl", { class: "cards" }, ...cards),
      ...this.sliders.map((slider) => slider.element),
      html(
        "label",
        { class: "choice switch" },
        this.people,
        html("span", { text: "Learn from my games, too" }),
        this.peopleGames,
      ),
    );
  }

  get learner() {
    return this.root.querySelector("input[name=learner]:checked").value;
  }

  // Show the state now, then whatever the server sends.
  async listen() {
    if (!this.source) return;
    await this.refresh();
    this.events = this.source.events();
    this.events.addEventListener("training", (event) => this.receive(JSON.parse(event.data)));
    // After a lost connection, rows may be missing.
    this.events.addEventListener("open", () => this.refresh());
    this.events.addEventListener("error", () => {
      setText(this.error, "The connection to the server is lost; trying again.");
    });
  }

  async refresh() {
    try {
      const found = await this.source.status();
      this.rows = found.history;
      this.show(found);
      setText(this.error, found.error ?? "");
    } catch (error) {
      setText(this.error, error.message);
    }
  }

  receive(found) {
    if (found.run !== this.status?.run || found.status === "idle") this.rows = [];
    // An update that was evaluated again, after games of people, replaces its row.
    const rows = [...this.rows, ...found.rows].map((row) => [row.update, row]);
    this.rows = [...new Map(rows).values()];
    this.show(found);
    setText(this.error, found.error ?? "");
  }

  async send(command) {
    try {
      await this.source.command(command, command === "start" ? this.learner : undefined);
      setText(this.error, "");
    } catch (error) {
      setText(this.error, error.message);
    }
  }

  async askReset() {
    const question = "Forget this training? The agent and its curves are lost.";
    if (await confirmed(question, "Forget it")) await this.send("reset");
  }

  async change(settings) {
    this.changing += 1;
    let problem = "";
    try {
      await this.source.change(settings);
    } catch (error) {
      problem = error.message;
    } finally {
      this.changing -= 1;
    }
    if (problem) await this.refresh();
    setText(this.error, problem);
  }

  show(found) {
    const before = this.status;
    this.status = found;
    const busy = ["compiling", "running", "paused"].includes(found.status);
    const paused = found.status === "paused";
    for (const input of this.root.querySelectorAll("input[name=learner]")) {
      input.disabled = busy;
      if (busy || before === null) input.checked = input.value === found.learner;
    }
    this.start.disabled = busy;
    setText(this.pause, paused ? "Continue" : "Pause");
    this.pause.dataset.command = paused ? "continue" : "pause";
    this.pause.disabled = !busy;
    this.reset.disabled = found.status === "idle";
    const done = `: update ${number(found.update)} of ${number(found.num_updates)}`;
    setText(this.state, STATES[found.status] + (found.update ? done : ""));
    this.bar.value = found.num_updates ? found.update / found.num_updates : 0;
    this.showProof(found, before);
    const loss = found.loss === null ? "–" : found.loss.toPrecision(3);
    const positions = found.positions_learned;
    const figures = {
      games: number(found.games),
      x: number(found.wins.x),
      o: number(found.wins.o),
      draws: number(found.draws),
      loss,
      positions: typeof positions === "number" ? number(positions) : "–",
    };
    for (const [name, text] of Object.entries(figures)) setText(this.figures[name], text);
    for (const slider of this.sliders) slider.show(found.settings[slider.name]);
    // What the server sent before it knew of a change must not undo it here.
    if (!this.changing) this.people.checked = found.learn_from_people;
    const idle = found.status === "idle"; // no agent is there to learn
    const learned = `${number(found.people_games)} so far`;
    setText(this.peopleGames, idle ? "once training has begun" : learned);
    if (before?.status !== found.status) announce(`Training: ${STATES[found.status]}`);
    this.dispatchEvent(new CustomEvent("progress"));
  }

  showProof(found, before) {
    const proven = found.unbeatable && found.unbeatable.x && found.unbeatable.o;
    const since = found.proven_at === null ? "" : ` from update ${number(found.proven_at)} on`;
    let text = "";
    if (proven) text = `Unbeatable, proven${since}`;
    else if (found.unbeatable) text = "Can still be beaten";
    setText(this.proof, text);
    this.proof.classList.toggle("proven", Boolean(proven));
    const was = before?.unbeatable && before.unbeatable.x && before.unbeatable.o;
    if (proven && !was) announce(`The agent is now proven unbeatable${since}.`);
  }
}

const NO_SERVER =
  "Training is missing in this page, since it works without a server. " +
  "With the program installed, python -m jax_ttt.web trains agents here.";
