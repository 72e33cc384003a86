// An agent that learns, at a glance: its board, its results, and the moment of its proof.

import { LETTERS, SIDES } from "../engine/rules.js";
import { ratesOf } from "../state/grades.js";
import { percent } from "../state/words.js";
import { shadesOf, smallBoard } from "./board.js";
import { PARTS } from "./curves.js";
import { html } from "../vendor/preact.js";

// What covers the board for a moment, once its agent is proven. The status says it, too.
export function ProofMoment({ learning }) {
  return html`
    <div class="proof-moment" aria-hidden="true">
      <p class="proof-title">Nobody can beat it${learning.seatText}</p>
      <p>${learning.sinceText}</p>
    </div>
  `;
}

// The results of a side in games against random play, as a bar.
function RatesBar({ rates, side }) {
  return html`
    <div class="rates">
      <span>As ${LETTERS[side]}</span>
      <span class="rates-bar" aria-hidden="true">
        ${Object.entries(PARTS).map(
          ([part, rate]) =>
            html`<span key=${part} class=${`key ${part}`} style=${{ flexGrow: rates[rate] }} />`,
        )}
      </span>
      <span>${percent(rates.win_rate)} wins, ${percent(rates.loss_rate)} losses</span>
    </div>
  `;
}

// The results of both sides.
export function Rates({ learning }) {
  const grade = learning.rows.at(-1)?.grade;
  const sides = SIDES.filter((side) => ratesOf(grade, side));
  return html`
    <div class="all-rates">
      ${sides.length > 0 && html`<p class="note">Against random play</p>`}
      ${sides.map(
        (side) => html`<${RatesBar} key=${side} side=${side} rates=${ratesOf(grade, side)} />`,
      )}
    </div>
  `;
}

// The board in the panel, for a phone, on which the real one is out of sight, and the results.
export function Watching({ play, shown, learning }) {
  const { rules, position } = play.game;
  return html`
    <div class="watching">
      ${
        learning.isOnBoard &&
        html`<div class="watched-board">
          ${smallBoard(rules, position, { last: position.last, shades: shadesOf(shown.values()) })}
          ${learning.isMoment && html`<${ProofMoment} learning=${learning} />`}
        </div>`
      }
      <${Rates} learning=${learning} />
    </div>
  `;
}
