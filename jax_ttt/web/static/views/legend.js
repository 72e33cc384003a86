// The legend of what the board shows besides the stones, beside the board.

import { isSolved } from "../state/levels.js";
import { LAYER_NAMES } from "./board.js";
import { html } from "../vendor/preact.js";

const SCALE = ": −1 a loss, +1 a win";

// The entries: { sample, look, text }, each once for what is switched on. The look is the
// class of the sample.
function entriesOf({ rules }, shown) {
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
  const { agents } = shown;
  const isWritten = layers.has("numbers") || agents.length > 1;
  for (const [i, { kind }] of agents.entries()) {
    const sample = isWritten ? LAYER_NAMES[kind] : "−1 +1";
    const text = i === 0 ? `the ${kind} expects${SCALE}` : `the ${kind}, too`;
    add(sample, isWritten ? "chip even" : "scale", text);
  }
  if (agents.length > 0) {
    const isHopeful = agents.some(({ loaded }) => loaded?.file.config.tremble > 0);
    if (isHopeful) add("above 0", "chip even", "in a draw: hopes for your mistake");
    add(isWritten ? "+0.61" : "frame", "chip own", "its own move");
    if (shown.values().some(({ isCorrected }) => isCorrected)) {
      add("corrected", "chip even", "the agent plays it, whatever the values");
    }
  }
  if (layers.has("line")) add("1 → 2", "chip even", "the agent's next moves, for both sides");
  if (layers.has("mistakes")) {
    add("?", "mark", "mistake: a worse result");
    add("??", "mark", "blunder: a win became a loss");
  }
  return entries;
}

export function Legend({ play, shown }) {
  const entries = entriesOf(play.game, shown);
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
