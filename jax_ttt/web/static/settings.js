// Who you play against, your side, and what the board shows.

import { byId, choice, html, setText } from "page/dom";
import { LEVELS } from "page/replies";

const SIDES = { x: "X, you start", o: "O, the agent starts", random: "Random" };
const LAYERS = {
  network: "Network's values",
  table: "Table's values",
  exact: "Exact values",
  mistakes: "Mark mistakes",
};
const LEARNED =
  "From −1, a loss, to +1, a win, against an opponent that makes mistakes; its own move is green.";
const SOURCES = { shipped: "Comes with the program", run: "Trained here", live: "Live training" };

const KEY = "jax_ttt.layers";

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(found) ? found.filter((layer) => layer in LAYERS) : ["mistakes"];
  } catch {
    return ["mistakes"];
  }
}

function keep(layers) {
  try {
    localStorage.setItem(KEY, JSON.stringify(layers));
  } catch {
    // only this visit
  }
}

export class Settings extends EventTarget {
  constructor(agents) {
    super();
    this.agents = agents;
    this.level = "medium";
    this.side = "x";
    this.layers = new Set(kept());
    const level = Object.entries(LEVELS).map(([value, { name }]) =>
      choice("radio", "level", value, name, value === this.level, () => {
        this.setLevel(value);
        this.dispatchEvent(new CustomEvent("opponent"));
      }),
    );
    byId("levels").append(...level);
    const sides = Object.entries(SIDES).map(([value, text]) =>
      choice("radio", "side", value, text, value === this.side, () => {
        this.side = value;
        this.dispatchEvent(new CustomEvent("side"));
      }),
    );
    byId("sides").append(...sides);
    const layers = Object.entries(LAYERS).map(([value, text]) =>
      choice("checkbox", value, "on", text, this.layers.has(value), (event) => {
        if (event.target.checked) this.layers.add(value);
        else this.layers.delete(value);
        keep([...this.layers]);
        this.dispatchEvent(new CustomEvent("layers"));
      }),
    );
    byId("layers").append(...layers);
    byId("agent").addEventListener("change", (event) => {
      agents.select(event.target.value);
      this.dispatchEvent(new CustomEvent("agent"));
    });
    // Runs that ended meanwhile are listed, too.
    byId("agent").addEventListener("focus", () => agents.refresh().catch(() => {}));
    agents.addEventListener("list", () => this.list());
    agents.addEventListener("select", () => this.show());
    this.show();
  }

  setLevel(level) {
    if (Object.hasOwn(LEVELS, level)) this.level = level;
    this.show();
  }

  setSide(side) {
    this.side = side;
    this.show();
  }

  // The opponent of the next game.
  get opponent() {
    const { id, update, label } = this.agents;
    const about = this.level === "expert" ? "Expert" : `${LEVELS[this.level].name}: ${label}`;
    return { level: this.level, agent: id, update, label: about };
  }

  // The side of the next game, "x" or "o".
  get nextSide() {
    if (this.side !== "random") return this.side;
    return Math.random() < 0.5 ? "x" : "o";
  }

  // Say what the values on the board are.
  showLayers(layers) {
    const parts = layers
      .filter(({ layer }) => layer !== "exact")
      .map(({ layer, name }) => `${layer}: ${name}`);
    const all = parts.join("; ");
    const text = all ? `${all[0].toUpperCase()}${all.slice(1)}. ${LEARNED}` : "";
    setText(byId("layers-about"), text);
  }

  list() {
    const shown = JSON.stringify(this.agents.list.map(({ id, title }) => [id, title]));
    if (shown === this.listed) return this.show();
    this.listed = shown;
    const options = this.agents.list.map((agent) =>
      html("option", { value: agent.id, text: agent.title }),
    );
    byId("agent").replaceChildren(...options);
    return this.show();
  }

  show() {
    for (const input of document.querySelectorAll("input[name=level]")) {
      input.checked = input.value === this.level;
    }
    for (const input of document.querySelectorAll("input[name=side]")) {
      input.checked = input.value === this.side;
    }
    setText(byId("level-about"), LEVELS[this.level].about);
    const { selected, update } = this.agents;
    if (!selected) return;
    byId("agent").value = selected.id;
    setText(byId("agent-about"), aboutAgent(selected, update));
  }
}

function aboutAgent(agent, update) {
  const kind = agent.kind === "table" ? "A table of values" : "A neural network";
  const when = update === null ? `${agent.updates.toLocaleString("en-US")} updates` : `as it was at update ${update.toLocaleString("en-US")}`;
  const source = SOURCES[agent.source] ?? "Imported";
  return `${kind}, ${when}. ${source}.`;
}
