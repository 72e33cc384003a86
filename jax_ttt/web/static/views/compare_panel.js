// The part "Compare two agents": two agents side by side, on the position of the board.

import { capital, spoken } from "../state/words.js";
import { AddAgent } from "./add_agent.js";
import { Board } from "./board.js";
import { SnapshotSlider } from "./sliders.js";
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

// The board with an agent's values, which nobody plays on.
function ComparedBoard({ rules, position, side }) {
  const { layers, line } = side;
  return html`
    <div class="compared" aria-hidden="true" inert>
      <${Board}
        key=${rules.envId}
        rules=${rules}
        position=${position}
        layers=${layers}
        line=${line}
        hasNumbers=${true}
        dot=${rules.falls ? 22 : 15}
      />
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

function Side({ play, selection, comparison, side, place, exact, hasSnapshots }) {
  const { rules, position } = play.game;
  const { name, id, entry, update, line } = side;
  const choose = (event) => comparison.chooseOne(place, { id: event.target.value, update: null });
  const next = line.length ? `Next: ${rules.lineText(position, line)}.` : "";
  return html`
    <section class="side" aria-label=${`Agent ${name}`}>
      <div class="field">
        <label for=${`agent-${place}`}>${name}<span class="unseen">, an agent</span></label>
        <select id=${`agent-${place}`} onChange=${choose}>
          ${selection.entries.map(
            (one) =>
              html`<option key=${one.id} value=${one.id} selected=${one.id === id}>
                ${one.title}
              </option>`,
          )}
        </select>
      </div>
      ${
        hasSnapshots &&
        html`<${SnapshotSlider}
          id=${`snapshot-${place}`}
          entry=${entry}
          update=${update}
          onChange=${(at) => comparison.chooseOne(place, { id, update: at })}
        >
          Update<span class="unseen"> of ${name}</span>
        <//>`
      }
      <${ComparedBoard} rules=${rules} position=${position} side=${side} />
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
    <p class="difference">${comparison.text(sides, exact)}</p>
    <p class="note">${LEGEND}</p>
  `;
}
