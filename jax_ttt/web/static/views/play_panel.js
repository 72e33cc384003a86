// The tab "Game": the opponent, the person's side, and the analysis of positions.

import { LETTERS, other } from "../engine/rules.js";
import { isSearched, levelName, levelText, levelsOf } from "../state/levels.js";
import { DEPTHS } from "../state/settings.js";
import { number } from "../state/words.js";
import { AnalysisTools } from "./analysis_panel.js";
import { Radios } from "./ui.js";
import { html } from "../vendor/preact.js";

const SHORTCUTS = [
  ["← →", "one move back or forward"],
  ["N", "new game"],
  ["U", "undo"],
  ["H", "hint"],
];
const KINDS = {
  table: "A table: one learned value for each position.",
  network: "A neural network: it computes values from the board.",
};
const SOURCES = {
  shipped: "Comes with the program",
  run: "Trained in a run on this computer",
  browser: "Kept in this browser",
  live: "From the training in Learn",
};

function depthText(depth) {
  if (depth === 0) return "0 moves: no search";
  return depth === 1 ? "1 move" : `${depth} moves`;
}

// What the selected agent is, in a line.
function agentText(entry, update) {
  const updates = number(update ?? entry.updates);
  const when = update === null ? `it learned in ${updates}` : `here after ${updates}`;
  return `${KINDS[entry.kind]} ${SOURCES[entry.source]}; ${when} small steps (updates).`;
}

function AgentChoice({ agents, play, selection }) {
  const { agent, entries, update } = selection;
  const options = entries.map(
    ({ id, title }) =>
      html`<option key=${id} value=${id} selected=${id === agent?.id}>${title}</option>`,
  );
  const choose = (event) => play.choose({ agent: event.target.value });
  const refresh = () => agents.refresh().catch(() => {}); // without an answer, the list stays
  return html`
    <div class="field">
      <label for="agent">Learned agent</label>
      <select id="agent" onChange=${choose} onFocus=${refresh}>
        ${options}
      </select>
    </div>
    <p class="note">
      ${agent ? agentText(agent, update) : "There is no learned agent of this game."}
    </p>
  `;
}

function DepthChoice({ play, selection }) {
  const { depth } = selection.choices;
  // A move at random would not look ahead.
  const choose = (event) => {
    const chosen = Number(event.target.value);
    play.choose(chosen === 0 ? { depth: 0 } : { depth: chosen, level: "full" });
  };
  const options = DEPTHS.map(
    (value) =>
      html`<option key=${value} value=${value} selected=${value === depth}>
        ${depthText(value)}
      </option>`,
  );
  const note = depth
    ? "It follows best play of both sides that far, then uses the network's values."
    : "The network's values alone choose its move.";
  const first = selection.loaded?.file.corrections ? " Its corrections come first." : "";
  return html`
    <div class="field">
      <label for="depth">The agent looks ahead</label>
      <select id="depth" onChange=${choose}>
        ${options}
      </select>
    </div>
    <p class="note">${note}${first}</p>
  `;
}

function OpponentChoice(state) {
  const { grades, play, selection, settings } = state;
  const { rules } = settings;
  const { level, side, depth } = selection.choices;
  const agentSide = side === "random" ? null : other(side);
  const player = { grades, agent: selection.loaded, depth, side: agentSide };
  const levels = levelsOf(rules).map((name) => [name, levelName(name, player)]);
  const sides = [
    ["x", `${LETTERS.x}, you start`],
    ["o", `${LETTERS.o}, the agent starts`],
    ["random", "Random"],
  ];
  return html`
    <${Radios}
      name="level"
      legend="Opponent"
      options=${levels}
      value=${level}
      onChange=${(value) => play.choose({ level: value })}
    />
    <p class="note">${levelText(level, player)}</p>
    <${AgentChoice} ...${state} />
    ${isSearched(rules) && html`<${DepthChoice} ...${state} />`}
    <${Radios}
      name="side"
      legend="Your side"
      options=${sides}
      value=${side}
      onChange=${(value) => play.choose({ side: value })}
    />
  `;
}

// The keys of the page.
export function KeysPanel({ settings }) {
  const { rules } = settings;
  const last = Math.min(rules.numberOf(rules.numActions - 1), 9); // one key, one digit
  const play = `play the ${rules.falls ? "column" : "square"} of this number`;
  const shortcuts = [[`${rules.numberOf(0)} to ${last}`, play], ...SHORTCUTS];
  const rows = shortcuts.map(
    ([keys, text]) =>
      html`<div key=${keys}>
        <dt><kbd>${keys}</kbd></dt>
        <dd>${text}</dd>
      </div>`,
  );
  return html`<dl class="keys">${rows}</dl>`;
}

export function PlayPanel(state) {
  const { play } = state;
  const modes = [
    ["play", "Play"],
    ["analysis", "Analyse"],
  ];
  return html`
    <${Radios}
      name="mode"
      legend="What to do"
      options=${modes}
      value=${play.analysis ? "analysis" : "play"}
      onChange=${(mode) => play.setMode(mode)}
    />
    ${play.analysis
      ? html`<${AnalysisTools} analysis=${play.analysis} />`
      : html`<${OpponentChoice} ...${state} />`}
  `;
}
