// The legend of what the board shows besides the stones, beside the board.

import { isSolved } from "../state/levels.js";
import { LAYER_NAMES } from "./board.js";
import { html } from "../vendor/htm-preact.js";

const LEARNED = {
  network: "the network's value: −1 a loss, +1 a win",
  table: "the table's value: −1 a loss, +1 a win",
};

// The entries: { sample, look, text }, each once for what is switched on. The look is the
// class of the sample.
function entriesOf({ rules, shown }) {
  const { layers } = shown;
  const entries = [];
  const add = (sample, look, text) => entries.push({ sample, look, text });
  if (layers.has("exact")) {
    add("win 5", "chip good", "exact: a win after 5 more moves");
    if (!isSolved(rules)) {
      add("win", "chip good", "exact: how soon is not known");
      add("–", "chip even", "exact: not known yet");
    }
  }
  const kinds = shown.agents.map(({ kind }) => kind);
  const isWritten = layers.has("numbers") || kinds.length > 1;
  for (const kind of kinds) {
    add(isWritten ? LAYER_NAMES[kind] : "−1 +1", isWritten ? "chip even" : "scale", LEARNED[kind]);
  }
  if (kinds.length > 0) {
    add(isWritten ? "+0.61" : "frame", "chip own", "the agent's own move");
    if (shown.values().some(({ isCorrected }) => isCorrected)) {
      add("corrected", "chip even", "the agent was told to play it, whatever the values");
    }
  }
  if (layers.has("line")) add("1 → 2", "chip even", "the agent's next moves, for both sides");
  if (layers.has("mistakes")) {
    add("?", "mark", "mistake: a worse result");
    add("??", "mark", "blunder: a win became a loss");
  }
  return entries;
}

export function Legend({ app }) {
  const entries = entriesOf(app);
  if (entries.length === 0) return null;
  return html`
    <ul class="board-legend" aria-label="What the board shows">
      ${entries.map(
        ({ sample, look, text }) => html`<li key=${sample}>
          <span><span class=${look}>${sample}</span></span>${" "}
          <span>${text}</span>
        </li>`,
      )}
    </ul>
  `;
}
