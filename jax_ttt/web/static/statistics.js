// Statistics of the person's games, and everything kept as one file.

import { button, byId, confirmed, html, number, percent, setText } from "page/dom";
import { LEVELS } from "page/replies";

const CARDS = {
  games: "Games",
  wins: "You won",
  draws: "Draws",
  losses: "You lost",
  win_rate: "Win rate",
  positions_learned: "Positions learned",
};
const COLUMNS = { games: "Games", wins: "Won", draws: "Drawn", losses: "Lost" };

function table(caption, head, rows) {
  const cells = ["", ...Object.values(COLUMNS)].map((text, i) =>
    i === 0 ? html("th", { scope: "col", text: head }) : html("th", { scope: "col", text }),
  );
  const lines = rows.map(([name, part]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row", text: name }),
      ...Object.keys(COLUMNS).map((key) => html("td", { text: number(part[key]) })),
    ),
  );
  return html(
    "table",
    {},
    html("caption", { text: caption }),
    html("thead", {}, html("tr", {}, ...cells)),
    html("tbody", {}, ...lines),
  );
}

export class StatisticsPanel {
  constructor(tree, source, agents) {
    Object.assign(this, { tree, source: source.statistics, live: source.live, agents });
    this.cards = {};
    const cards = Object.entries(CARDS).map(([name, text]) => {
      this.cards[name] = html("dd", { text: "0" });
      return html("div", {}, html("dt", { text }), this.cards[name]);
    });
    this.tables = html("div", { class: "tables" });
    this.note = html("p", { class: "note", role: "status" });
    this.file = html("input", {
      type: "file",
      id: "import-file",
      class: "unseen",
      accept: ".json,application/json",
      "aria-label": "File to import",
      tabindex: -1,
      on: { change: () => this.restore() },
    });
    this.clear = button("Clear the statistics", () => this.askClear(), { class: "danger" });
    byId("statistics").append(
      html("dl", { class: "cards" }, ...cards),
      this.tables,
      html(
        "div",
        { class: "bar" },
        button("Export", () => this.backup()),
        button("Import…", () => this.file.click()),
        this.clear,
      ),
      this.file,
      this.note,
    );
    this.say();
  }

  say(text = "") {
    const where = this.live
      ? "Kept on this computer by the server. The file holds the statistics and agents."
      : this.source.persistent
        ? "Kept in this browser. The file holds the statistics."
        : "This browser keeps nothing for this page: export the statistics to keep them.";
    setText(this.note, text || where);
  }

  async refresh() {
    try {
      this.show(await this.source.read());
    } catch (error) {
      this.say(error.message);
    }
  }

  show(found) {
    const { letters } = this.tree;
    const texts = {
      games: number(found.games),
      wins: number(found.wins),
      draws: number(found.draws),
      losses: number(found.losses),
      win_rate: typeof found.win_rate === "number" && found.games ? percent(found.win_rate) : "–",
      positions_learned:
        typeof found.positions_learned === "number" ? number(found.positions_learned) : "–",
    };
    for (const [name, text] of Object.entries(texts)) setText(this.cards[name], text);
    this.clear.disabled = found.games === 0;
    const sides = ["x", "o"].map((side) => [`As ${letters[side]}`, withGames(found[side])]);
    const opponents = (found.by_opponent ?? []).map((part) => [this.named(part.opponent), withGames(part)]);
    const none = [["No games yet", { games: 0, wins: 0, draws: 0, losses: 0 }]];
    this.tables.replaceChildren(
      table("By side", "Your side", sides),
      table("By opponent", "Opponent", opponents.length ? opponents : none),
    );
  }

  // A level, or an agent.
  named(opponent) {
    return LEVELS[opponent]?.name ?? this.agents.get(opponent)?.title ?? opponent;
  }

  async backup() {
    try {
      const url = URL.createObjectURL(await this.source.backup());
      const link = html("a", { href: url, download: "jax_ttt-backup.json" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      this.say(error.message);
    }
  }

  async restore() {
    const [file] = this.file.files;
    if (!file) return;
    this.file.value = "";
    try {
      await this.source.restore(await file.text());
      await this.refresh();
      this.say(`Imported ${file.name}.`);
      await this.agents.refresh();
    } catch (error) {
      this.say(`${file.name} was not imported: ${error.message}. Nothing was changed.`);
    }
  }

  async askClear() {
    if (!(await confirmed("Clear the statistics of all your games?", "Clear"))) return;
    try {
      await this.source.clear();
      await this.refresh();
      this.say("Cleared.");
    } catch (error) {
      this.say(error.message);
    }
  }
}

function withGames(part) {
  return { ...part, games: part.games ?? part.wins + part.draws + part.losses };
}
