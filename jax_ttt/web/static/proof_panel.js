// The tab "Proof": the verdict for each side, a line that beats the agent, and a check.

import { computeGrade, isFeasible, knownOf, ratesOf, seatOf } from "./grades.js";
import { LETTERS, SEATS, SIDES } from "./rules.js";
import { announce, number } from "./ui.js";
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

// The grade that is shown.
function shownGrade({ loaded }) {
  const seats = SIDES.map((side) => [SEATS[side], knownOf(loaded, side).seat]);
  return Object.fromEntries(seats.filter(([, seat]) => seat !== null));
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

function verdictOf(app, side, { seat, origin }) {
  if (!app.loaded.file.seats.includes(SEATS[side])) return "It did not learn this side";
  if (origin === "checking") return "checking in this browser…";
  const source = origin === "file" ? " by its file" : "";
  if (seat?.unbeatable === true) return `Unbeatable${source}`;
  if (seat?.unbeatable === false) return `Can be beaten${source}`;
  return isFeasible(app.rules) ? "Not known" : "Not known: too many positions";
}

// Whether an agent's file says the opposite of what this browser found.
function isContradicted({ seat, origin }, fileSeat) {
  const claim = fileSeat?.unbeatable;
  return origin === "browser" && typeof claim === "boolean" && claim !== seat.unbeatable;
}

// The counts of this browser, or where it has none, those of the file.
function Counts({ seat, fileSeat }) {
  const isCounted = Boolean(seat?.lines);
  const counts = isCounted ? seat : fileSeat;
  const rest = counts?.complete === false ? "; there are more" : "";
  const source = isCounted ? "" : `, by its file${rest}`;
  if (counts?.lines) {
    return html`
      <p class="big">${number(sum(counts.lines))}</p>
      <p class="note">lines of play followed${source}</p>
      <ul class="counts">
        ${RESULTS.map(
          (name) => html`<li key=${name}><b>${number(counts.lines[name])}</b> ${name}</li>`,
        )}
      </ul>
    `;
  }
  if (typeof counts?.num_positions !== "number") return null;
  return html`
    <p class="big">${number(counts.num_positions)}</p>
    <p class="note">positions reached${source}</p>
  `;
}

function Card({ app, side }) {
  const known = knownOf(app.loaded, side);
  const { seat, origin } = known;
  const fileSeat = seatOf(app.loaded.file.grade, side);
  const look = { true: "proven", false: "beatable" }[seat?.unbeatable] ?? "";
  // A line that this browser did not check may have moves that the agent does not play.
  const canShow = origin === "browser" && Boolean(seat.losing_line);
  return html`
    <article class=${`card ${look}`}>
      <h3>As ${LETTERS[side]}: ${verdictOf(app, side, known)}</h3>
      ${
        isContradicted(known, fileSeat) &&
        html`<p class="note">Its file says the opposite. This is what the browser found.</p>`
      }
      ${
        origin !== "checking" &&
        html`<${Counts} seat=${origin === "browser" ? seat : null} fileSeat=${fileSeat} />`
      }
      ${
        canShow &&
        html`<button type="button" onClick=${() => app.demonstrate(seat.losing_line, side)}>
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
  const { agent, update, loaded } = app;
  if (!agent) return html`<p class="note">There is no learned agent of this game.</p>`;
  if (!loaded) return html`<p class="note">Loading the agent…</p>`;
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
