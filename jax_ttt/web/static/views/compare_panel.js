// The part "Compare two agents": two agents side by side, on the position of the board.

import { capital, number, signed, spoken } from "../state/words.js";
import { AddAgent } from "./add_agent.js";
import { arrows, smallBoard } from "./board.js";
import { html } from "../vendor/preact.js";

const ABOUT =
  "Two agents on the position of the board, without looking ahead. Step through the game or play " +
  "on: both follow.";
const LEGEND =
  "First the exact result, where it is known; then the agent's value from −1, a loss, to +1, a " +
  "win. A frame marks the agent's move, and arrows show its next moves for both sides.";
const ONE_AGENT =
  "There is one agent of this game, and it has no snapshots. Add an agent's file to compare the two.";

// The least width of a column in pixels; below it, one board stands under the other. A square
// has both values in it.
const LEAST = { squares: 46, columns: 34 };

// The chips of a move: the exact result, and the agent's value.
function chips(action, { answer }, exact) {
  const result = exact.get(action);
  const value = answer?.values[action];
  const look = ["chip", "shaded", value < 0 ? "down" : "up"];
  if (action === answer?.move) look.push("own");
  return html`
    <span class="place" key=${action}>
      ${result && html`<span class=${`chip exact ${result.tone}`}>${result.text}</span>`}
      ${
        answer &&
        !Number.isNaN(value) &&
        html`<span class=${look.join(" ")} style=${{ "--share": `${shareOf(value)}%` }}>
          ${signed(value)}
        </span>`
      }
    </span>
  `;
}

// How strong the colour of a value is, from 0 to 100.
function shareOf(value) {
  return Math.round(100 * Math.min(Math.abs(value), 1));
}

// The picture of an agent's board.
function Picture({ rules, position, side, exact }) {
  const { falls, columns, rows, numActions } = rules;
  const places = Array.from({ length: numActions }, (_, action) => chips(action, side, exact));
  const numbers = Array.from(
    { length: falls ? columns : 0 },
    (_, column) => html`<span key=${column}>${rules.numberOf(column)}</span>`,
  );
  return html`
    <div
      class=${`compared ${falls ? "columns-of" : "squares-of"}`}
      style=${{ "--columns": columns, "--rows": rows }}
      aria-hidden="true"
    >
      ${falls && html`<div class="places">${places}</div>`}
      <div class="picture">
        ${smallBoard(rules, position, { last: position.last })}
        ${arrows({ rules, position, line: side.line, dot: falls ? 22 : 15 })}
        ${!falls && html`<div class="places">${places}</div>`}
      </div>
      ${falls && html`<div class="edge places">${numbers}</div>`}
    </div>
  `;
}

// The picture in words, for screen readers.
function moveNames(rules, position, { answer }, exact) {
  if (!answer) return [];
  return rules.legal(position).map((action) => {
    const parts = [capital(rules.actionName(action))];
    if (exact.has(action)) parts.push(exact.get(action).spoken);
    parts.push(`value ${spoken(answer.values[action])}`);
    if (action === answer.move) parts.push("its move");
    if (action === answer.move && answer.isCorrected) parts.push("corrected");
    return parts.join(", ");
  });
}

function Snapshot({ comparison, side, place }) {
  const { name, id, update, entry } = side;
  const { snapshots, updates } = entry;
  const last = Math.max(snapshots.length - 1, 0);
  const text = `${number(update ?? updates)} of ${number(updates)}`;
  const move = (i) => {
    comparison.chooseOne(place, { id, update: i === last ? null : snapshots[i] });
  };
  return html`
    <div class="slider">
      <label for=${`snapshot-${place}`}>Update<span class="unseen"> of ${name}</span></label>
      <output for=${`snapshot-${place}`}>${text}</output>
      <input
        type="range"
        id=${`snapshot-${place}`}
        min="0"
        max=${last}
        value=${update === null ? last : snapshots.indexOf(update)}
        disabled=${snapshots.length < 2}
        aria-valuetext=${`update ${text}`}
        onInput=${(event) => move(Number(event.target.value))}
      />
    </div>
  `;
}

function Side({ play, selection, comparison, side, place, exact, hasSnapshots }) {
  const { rules, position } = play.game;
  const { name, id, line } = side;
  const choose = (event) => comparison.chooseOne(place, { id: event.target.value, update: null });
  const next = line.length ? `Next: ${rules.lineText(position, line)}.` : "";
  return html`
    <section class="side" aria-label=${`Agent ${name}`}>
      <div class="field">
        <label for=${`agent-${place}`}>${name}<span class="unseen">, an agent</span></label>
        <select id=${`agent-${place}`} onChange=${choose}>
          ${selection.entries.map(
            (entry) =>
              html`<option key=${entry.id} value=${entry.id} selected=${entry.id === id}>
                ${entry.title}
              </option>`,
          )}
        </select>
      </div>
      ${hasSnapshots && html`<${Snapshot} comparison=${comparison} side=${side} place=${place} />`}
      <${Picture} rules=${rules} position=${position} side=${side} exact=${exact} />
      <ul class="unseen" aria-label=${`Moves of ${name}`}>
        ${moveNames(rules, position, side, exact).map((text, i) => html`<li key=${i}>${text}</li>`)}
      </ul>
      <p class="note">${next}</p>
    </section>
  `;
}

export function ComparePanel(state) {
  const { agents, comparison, play, selection } = state;
  const { rules } = play.game;
  const { entries } = selection;
  if (entries.length === 0) return html`<p>There is no learned agent of this game.</p>`;
  if (entries.length === 1 && entries[0].snapshots.length < 2) {
    return html`
      <p>${ONE_AGENT}</p>
      <${AddAgent} agents=${agents} />
    `;
  }
  const exact = comparison.exact();
  const sides = comparison.sides();
  // Both have the slider or none, so that the boards are at the same height.
  const hasSnapshots = sides.some(({ entry }) => entry.snapshots.length > 1);
  const least = rules.falls ? LEAST.columns : LEAST.squares;
  return html`
    <p class="note">${ABOUT}</p>
    <div class="sides" style=${{ "--least": `${rules.columns * least}px` }}>
      ${sides.map(
        (side, place) =>
          html`<${Side}
            key=${side.name}
            side=${side}
            place=${place}
            exact=${exact}
            hasSnapshots=${hasSnapshots}
            ...${state}
          />`,
      )}
    </div>
    <p class="difference">${comparison.text()}</p>
    <p class="note">${LEGEND}</p>
  `;
}
