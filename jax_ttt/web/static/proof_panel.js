// The proof made visible: lines of play by side, the line that beats an agent, a check.

import { byId, html, number, revealBoard, setText } from "page/dom";
import { ofSide } from "page/grade";
import { check } from "page/proof";
import { SIDES } from "page/tree";

export class ProofPanel {
  constructor(tree, source, agents, game) {
    Object.assign(this, { tree, source, agents, game });
    this.shown = null;
    this.asked = 0;
    agents.addEventListener("select", () => this.load());
    byId("check").addEventListener("click", () => this.checkAgain());
  }

  async load() {
    const { id, update } = this.agents;
    this.asked += 1;
    const asked = this.asked;
    setText(byId("check-result"), "");
    try {
      const found = await this.source.grade(id, update);
      if (asked === this.asked) this.show(found);
    } catch (error) {
      if (asked === this.asked) setText(byId("proof-about"), error.message);
    }
  }

  show(grade) {
    this.shown = grade;
    const about =
      `${this.agents.label}: every line of play that any opponent could choose, ` +
      "against the agent's move in each position.";
    setText(byId("proof-about"), about);
    byId("proofs").replaceChildren(...SIDES.map((side) => this.card(side, ofSide(grade, side))));
  }

  card(side, part) {
    const { won, drawn, lost } = part.lines;
    const all = won + drawn + lost;
    const letter = this.tree.letters[side];
    const verdict = part.unbeatable ? "Unbeatable" : "Can be beaten";
    const rows = [["won", won], ["drawn", drawn], ["lost", lost]].map(([name, count]) =>
      html("li", {}, html("b", { text: number(count) }), ` ${name}`),
    );
    const show = html("button", {
      type: "button",
      text: "Show me how to beat it",
      on: { click: () => this.demonstrate(part.losing_line, side) },
    });
    return html(
      "article",
      { class: part.unbeatable ? "card proven" : "card beatable" },
      html("h3", { text: `As ${letter}: ${verdict}` }),
      html("p", { class: "big", text: number(all) }),
      html("p", { class: "note", text: "lines of play checked" }),
      html("ul", { class: "counts" }, ...rows),
      part.losing_line ? show : null,
    );
  }

  demonstrate(line, side) {
    revealBoard();
    return this.game.demonstrate(line, side);
  }

  // Walk over the tree here, and compare the result with the one that is shown.
  async checkAgain() {
    const values = await this.agents.values();
    const began = performance.now();
    const found = SIDES.map((side) => check(this.tree, values, side));
    const ms = performance.now() - began;
    const same = SIDES.every((side, i) =>
      ["won", "drawn", "lost"].every(
        (name) => ofSide(this.shown, side).lines[name] === found[i].lines[name],
      ),
    );
    const counts = found.map(({ lines }) => lines.won + lines.drawn + lines.lost);
    const lost = found[0].lines.lost + found[1].lines.lost;
    const result = same ? "The same result" : "NOT the same result as shown";
    setText(
      byId("check-result"),
      `${result}: ${number(counts[0])} lines as X and ${number(counts[1])} as O, ` +
        `${number(lost)} lost, walked by this browser in ${ms.toFixed(0)} ms.`,
    );
  }
}
