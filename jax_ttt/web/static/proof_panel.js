// The tab "Proof": the verdict for each side, a line that beats the agent, and a check.

import {
  computeGrade,
  computedGrade,
  isFeasible,
  isQuick,
  ratesOf,
  requestGrade,
  seatOf,
} from "./grades.js";
import { LETTERS, SEATS, SIDES } from "./rules.js";
import { announce, number, say } from "./ui.js";
import { html } from "./vendor/htm-preact.js";

const ALIKE = 1e-6; // rates in files have the precision of 32 bits
const RESULTS = ["won", "drawn", "lost"];
const PROOF =
  "A proof follows every line of play that anybody could choose against the agent, with the " +
  "agent's move in each position. It is of the learned agent alone: without moves of search, " +
  "and without the random moves of a level.";

// The check that was begun last: { key, isRunning, positions, text }.
let check = { key: null, isRunning: false, positions: 0, text: "" };

function sum(lines) {
  return RESULTS.reduce((count, name) => count + lines[name], 0);
}

// The grade to show: the file's where it has lines of play, else the one computed here.
// Null while it is computed, so that a verdict and its numbers appear together.
function shownGrade({ rules, loaded }) {
  const { grade } = loaded.file;
  if (SIDES.some((side) => seatOf(grade, side)?.lines)) return grade;
  return computedGrade(loaded) ?? (isQuick(rules) ? null : grade);
}

// Whether two grades say the same of a side, as far as both say anything.
function isSame(grade, other, side) {
  const [a, b] = [seatOf(grade, side), seatOf(other, side)];
  if (!a || !b) return true;
  if (typeof a.unbeatable === "boolean" && a.unbeatable !== b.unbeatable) return false;
  if (a.lines && b.lines) return RESULTS.every((name) => a.lines[name] === b.lines[name]);
  const [rates, others] = [ratesOf(grade, side), ratesOf(other, side)];
  if (!rates?.isExact || !others?.isExact) return true;
  return ["win_rate", "draw_rate", "loss_rate"].every(
    (name) => Math.abs(rates[name] - others[name]) < ALIKE,
  );
}

function resultText({ rules, loaded }, shown, grade, seconds) {
  const sides = SIDES.filter((side) => seatOf(grade, side)?.lines);
  const others = [shown, loaded.file.grade];
  const isAllSame = others.every((other) => sides.every((side) => isSame(other, grade, side)));
  const lines = sides.map((side) => seatOf(grade, side).lines);
  const counts = sides.map((side, i) => `${number(sum(lines[i]))} lines as ${LETTERS[side]}`);
  const lost = lines.reduce((total, results) => total + results.lost, 0);
  const isKnown = others.some((other) =>
    sides.some((side) => typeof seatOf(other, side)?.unbeatable === "boolean"),
  );
  let verdict = "The result of this browser";
  if (isKnown) verdict = isAllSame ? "The same result" : "NOT the same result as shown";
  const time = seconds < 1 ? `${(1000 * seconds).toFixed(0)} ms` : `${seconds.toFixed(1)} s`;
  const results = `${counts.join(" and ")}, ${number(lost)} lost`;
  return `${verdict}: ${results}, followed by this browser in ${time}.`;
}

// Follow all lines of play here, and compare the result with the one that is shown.
async function checkAgain(app) {
  const { rules, loaded } = app;
  const shown = shownGrade(app);
  const begun = { key: loaded.key, isRunning: true, positions: 0, text: "" };
  check = begun;
  app.changed();
  const began = performance.now();
  try {
    const grade = await computeGrade(app, rules, loaded, (positions) => {
      begun.positions = positions;
      app.changed();
    });
    begun.text = resultText({ rules, loaded }, shown, grade, (performance.now() - began) / 1000);
  } catch (error) {
    begun.text = `No result: ${error.message}.`;
  }
  begun.isRunning = false;
  if (check === begun) announce(begun.text);
  app.changed();
}

// Play the line that beats the agent. Where no line is known yet, it is computed.
async function demonstrate(app, side) {
  const { rules, loaded } = app;
  const line = seatOf(shownGrade(app), side).losing_line;
  if (line) {
    app.demonstrate(line, side);
    return;
  }
  say("Looking for a line of play that beats it…");
  try {
    const grade = await computeGrade(app, rules, loaded);
    if (app.loaded?.key === loaded.key) app.demonstrate(seatOf(grade, side).losing_line, side);
  } catch (error) {
    say(`No line: ${error.message}.`);
  }
}

function verdictOf(app, side, seat) {
  if (!app.loaded.file.seats.includes(SEATS[side])) return "It did not learn this side";
  if (seat?.unbeatable === true) return "Unbeatable";
  if (seat?.unbeatable === false) return "Can be beaten";
  if (!isFeasible(app.rules)) return "Not known: too many positions";
  return isQuick(app.rules) ? "…" : "Not known yet: check it in this browser";
}

function Counts({ seat }) {
  if (seat?.lines) {
    return html`
      <p class="big">${number(sum(seat.lines))}</p>
      <p class="note">lines of play followed</p>
      <ul class="counts">
        ${RESULTS.map(
          (name) => html`<li key=${name}><b>${number(seat.lines[name])}</b> ${name}</li>`,
        )}
      </ul>
    `;
  }
  if (typeof seat?.num_positions !== "number") return null;
  return html`
    <p class="big">${number(seat.num_positions)}</p>
    <p class="note">positions reached</p>
  `;
}

function Card({ app, side }) {
  const seat = seatOf(shownGrade(app), side);
  const look = { true: "proven", false: "beatable" }[seat?.unbeatable] ?? "";
  const canShow = seat?.unbeatable === false && (seat.losing_line || isFeasible(app.rules));
  return html`
    <article class=${`card ${look}`}>
      <h3>As ${LETTERS[side]}: ${verdictOf(app, side, seat)}</h3>
      <${Counts} seat=${seat} />
      ${
        canShow &&
        html`<button type="button" onClick=${() => demonstrate(app, side)}>
          Show me how to beat it
        </button>`
      }
    </article>
  `;
}

function Check({ app }) {
  const isOwn = check.key === app.loaded.key;
  const isRunning = isOwn && check.isRunning;
  let text = isOwn ? check.text : "";
  if (isRunning) text = `Following the lines of play: ${number(check.positions)} positions…`;
  if (!isFeasible(app.rules)) {
    text = "This game has too many positions to follow all lines of play in a browser.";
  }
  return html`
    <div class="bar">
      <button
        type="button"
        disabled=${isRunning || !isFeasible(app.rules)}
        onClick=${() => checkAgain(app)}
      >
        Check again in this browser
      </button>
      ${
        isRunning &&
        html`<button type="button" onClick=${() => app.engine.stopGrade()}>Stop</button>`
      }
    </div>
    <p class="note">${text}</p>
  `;
}

// The panel; it is of the selected agent of the current game.
export function ProofPanel({ app }) {
  const { rules, agent, update, loaded } = app;
  if (!agent) return html`<p class="note">There is no learned agent of this game.</p>`;
  if (!loaded) return html`<p class="note">Loading the agent…</p>`;
  if (isQuick(rules)) requestGrade(app, rules, loaded);
  const at = update === null ? "" : ` at update ${number(update)}`;
  return html`
    <p><b>${agent.title}${at}</b></p>
    <p class="note">${PROOF}</p>
    <div class="proofs">
      ${SIDES.map((side) => html`<${Card} key=${side} app=${app} side=${side} />`)}
    </div>
    <${Check} app=${app} />
  `;
}
