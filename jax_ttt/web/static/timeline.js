// The timeline: an agent as it was at each of its snapshots, to look at and to play.

import { button, byId, html, number, setText } from "page/dom";

export class Timeline {
  constructor(agents, onPlay) {
    this.agents = agents;
    this.updates = [];
    this.label = html("output", { class: "value", for: "snapshot" });
    this.range = html("input", {
      type: "range",
      id: "snapshot",
      min: 0,
      max: 0,
      step: 1,
      on: { input: () => this.move() },
    });
    this.note = html("p", { class: "note" });
    this.play = button("Play against it as it was then", onPlay);
    this.latest = button("Back to the latest", () => agents.select(agents.id));
    byId("timeline").append(
      html(
        "div",
        { class: "slider" },
        html("label", { for: "snapshot", text: "Snapshot" }),
        this.label,
        this.range,
      ),
      html("div", { class: "bar" }, this.play, this.latest),
      this.note,
    );
    agents.addEventListener("list", () => this.show());
    agents.addEventListener("select", () => this.show());
    agents.addEventListener("progress", () => this.show());
  }

  move() {
    const update = this.updates[this.range.value];
    const isLatest = Number(this.range.value) === this.updates.length - 1;
    this.agents.select(this.agents.id, isLatest ? null : update);
  }

  show() {
    const { selected, update } = this.agents;
    const found = selected?.snapshots ?? [];
    this.updates = found;
    const usable = found.length > 1;
    const at = update === null ? found.length - 1 : found.indexOf(update);
    this.range.max = Math.max(found.length - 1, 0);
    this.range.value = at;
    const shown = update ?? selected?.updates ?? 0;
    const text = `update ${number(shown)} of ${number(selected?.updates ?? 0)}`;
    setText(this.label, text);
    this.range.setAttribute("aria-valuetext", text);
    this.range.disabled = !usable;
    setText(this.play, update === null ? "Play against it" : "Play against it as it was then");
    this.latest.disabled = update === null;
    const note = usable
      ? "The values on the board, the proof and Medium are of this snapshot."
      : "This agent has no snapshots.";
    setText(this.note, note);
  }
}
