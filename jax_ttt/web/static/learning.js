// The panel of learning: curves, timeline and training, for the selected agent.

import { byId, setText } from "page/dom";
import { showCurves } from "page/curves";
import { Timeline } from "page/timeline";
import { Training } from "page/training";

export class Learning {
  constructor(tree, source, agents, onPlay) {
    Object.assign(this, { tree, source, agents });
    this.timeline = new Timeline(agents, onPlay);
    this.training = new Training(source);
    this.histories = new Map(); // rows by agent, of agents that no longer learn
    showCurves(byId("curves"), tree, [], null, "loading…");
    agents.addEventListener("select", () => this.showCurves());
    agents.addEventListener("list", () => this.showCurves());
    byId("tabs").addEventListener("shown", () => this.showCurves());
    this.training.addEventListener("progress", () => this.progress());
  }

  listen() {
    return this.training.listen();
  }

  // A live agent appears in the list with its first update, and is then selected, but
  // not one that is there as the page opens: the game on the board is another's.
  async progress() {
    const { status } = this.training;
    const { agents } = this;
    const opening = this.run === undefined;
    if (opening) this.run = status.run;
    const listed = agents.list.find((agent) => agent.source === "live");
    const known = status.run === this.run;
    if (status.snapshots.length > 0 && (!listed || !known)) {
      this.run = status.run;
      await agents.refresh();
      const live = agents.list.find((agent) => agent.source === "live");
      if (live && !opening && status.status !== "finished") agents.select(live.id);
    } else if (listed && status.status === "idle") await agents.refresh();
    else if (listed) this.grow(listed, status);
  }

  grow(live, status) {
    const before = live.snapshots.length;
    Object.assign(live, {
      updates: status.update,
      snapshots: status.snapshots,
      unbeatable: status.unbeatable,
    });
    if (this.agents.id !== live.id) return;
    this.showCurves();
    if (before !== status.snapshots.length) {
      this.agents.dispatchEvent(new CustomEvent("progress"));
    }
  }

  async rows() {
    const { selected } = this.agents;
    if (!selected) return [];
    if (selected.source === "live") return this.training.rows;
    if (!this.histories.has(selected.id)) {
      this.histories.set(selected.id, (await this.source.history(selected.id)).rows);
    }
    return this.histories.get(selected.id);
  }

  // Histories are asked for where they are seen.
  async showCurves() {
    if (byId("panel-learning").hidden) return;
    const { agents } = this;
    const shown = [agents.id, agents.update];
    let rows = [];
    let about = agents.selected
      ? `${agents.selected.title}: exact results against random play.`
      : "";
    try {
      rows = await this.rows();
    } catch (error) {
      about = error.message;
    }
    if (shown[0] !== agents.id || shown[1] !== agents.update) return;
    setText(byId("curves-about"), about);
    showCurves(byId("curves"), this.tree, rows, agents.update);
  }
}
