// The tab "Proof": the verdict for each side, a line that beats the agent, and a check.

import { countByStones } from "../engine/corrections.js";
import { LETTERS, SIDES, rulesOf } from "../engine/rules.js";
import { RESULTS, checkAllLines, checkSomeLines, someLinesText, sum } from "../state/checks.js";
import { bestPlayNote, isFeasible, seatOf } from "../state/grades.js";
import { counted, number } from "../state/words.js";
import { html } from "../vendor/preact.js";

const PROOF =
  "A proof follows every line of play that anybody could choose against the agent, with the " +
  "agent's move in each position. It is of the learned agent alone: without moves of search, " +
  "and without the random moves of a level.";
const CORRECTIONS =
  "A correction is a position and the move that the agent plays there, in place of " +
  "its own choice.";

// The agents of proofs/, whose theorems docs/learn/theorem.md explains.
const WITH_THEOREM = ["shipped/network", "shipped/connect-5x4"];
const THEOREM =
  "That this agent never loses is also a theorem, checked by the proof assistant Coq.";

const SOME_LINES =
  "In every second line the opponent's moves are random; in the others, three of four are those " +
  "that the agent itself would play there. This is a sample, not a proof.";

// The corrections of a file by stones, by the file's Map of corrections.
const correctionCounts = new WeakMap();

// What a check found. A screen reader reads out one that contradicts what is shown.
function Result({ isProblem, children }) {
  const key = String(isProblem); // an element of its own, so that it is read out once it is there
  if (isProblem) return html`<p key=${key} class="problem" role="alert">${children}</p>`;
  return html`<p key=${key} class="note">${children}</p>`;
}

function SomeLines({ grades, play, selection, proven }) {
  const { rules } = play.game;
  const { side } = proven;
  const { linesCheck } = grades;
  const isOwn = linesCheck?.key === selection.loaded.key && linesCheck.side === side;
  const check = isOwn ? linesCheck : null;
  const isRunning = Boolean(check?.isRunning);
  const isLost = check?.contradiction && check.lines.lost > 0;
  return html`
    <div class="bar">
      <button
        type="button"
        disabled=${isRunning}
        onClick=${() => checkSomeLines({ grades, selection }, proven)}
      >
        Check some lines in this browser
      </button>
      ${
        isRunning &&
        html`<button type="button" onClick=${() => grades.engine.stopLines()}>Stop</button>`
      }
      ${
        isLost &&
        html`<button
          type="button"
          onClick=${() => play.demonstrate(check.contradiction, side)}
        >
          Show this line
        </button>`
      }
    </div>
    ${
      check &&
      html`<${Result} isProblem=${Boolean(check.contradiction)}>${someLinesText(check, rules)}<//>`
    }
    <p class="note">${SOME_LINES}</p>
  `;
}

function correctionsByStones(rules, { corrections }) {
  if (!correctionCounts.has(corrections)) {
    correctionCounts.set(corrections, countByStones(rules, corrections));
  }
  return correctionCounts.get(corrections);
}

// How many corrections the agent plays on a side, by the stones on the board; and how many
// positions of its own its file says that it reaches. Nothing for an agent without corrections.
function Corrections({ file, side, fileSeat }) {
  if (!file.corrections) return null;
  const rules = rulesOf(file.envId);
  const counts = correctionsByStones(rules, file);
  const positions = fileSeat?.positions ?? null;
  const first = SIDES.indexOf(side); // X moves on boards with an even number of stones
  const all = positions ? positions.length : rules.numCells;
  const levels = [];
  for (let stones = first; stones < all; stones += 2) {
    levels.push({ stones, own: positions?.[stones], corrected: counts.get(stones) ?? 0 });
  }
  const total = levels.reduce((count, { corrected }) => count + corrected, 0);
  if (total === 0) return null;
  const most = levels.reduce((a, b) => (b.corrected > a.corrected ? b : a));
  const own = positions && levels.reduce((count, level) => count + level.own, 0);
  const where = own
    ? `${number(total)} of ${number(own)} positions (by its file)`
    : counted(total, "position");
  return html`
    <p class="note">
      The network is overruled in ${where}, most often (${number(most.corrected)}) with
      ${" "}${counted(most.stones, "stone")} on the board.
    </p>
    <details>
      <summary>Corrections by stones</summary>
      <table class="levels">
        <thead>
          <tr>
            <th scope="col">Stones</th>
            ${positions && html`<th scope="col">Positions</th>`}
            <th scope="col">Corrections</th>
          </tr>
        </thead>
        <tbody>
          ${levels.map(
            (level) => html`<tr key=${level.stones}>
              <th scope="row">${level.stones}</th>
              ${positions && html`<td>${number(level.own)}</td>`}
              <td>${number(level.corrected)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </details>
  `;
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

function Card({ side, ...state }) {
  const { grades, play, selection } = state;
  const { loaded } = selection;
  const known = grades.knownOf(loaded, side);
  const { seat, origin } = known;
  const fileSeat = seatOf(loaded.file.grade, side);
  const look = { true: "proven", false: "beatable" }[seat?.unbeatable] ?? "";
  // A line that this browser did not check may have moves that the agent does not play.
  const canShow = origin === "browser" && Boolean(seat.losing_line);
  const note = bestPlayNote(loaded, side);
  const proven = grades.provenSides(loaded).find((one) => one.side === side);
  return html`
    <article class=${`card ${look}`}>
      <h3>As ${LETTERS[side]}: ${grades.verdictOf(loaded, side)}</h3>
      ${
        isContradicted(known, fileSeat) &&
        html`<${Result} isProblem=${true}>
          Its file says the opposite. This is what the browser found.
        <//>`
      }
      ${note && html`<p class="note">${note}</p>`}
      ${
        origin !== "checking" &&
        html`<${Counts} seat=${origin === "browser" ? seat : null} fileSeat=${fileSeat} />`
      }
      ${
        canShow &&
        html`<button type="button" onClick=${() => play.demonstrate(seat.losing_line, side)}>
          Show me how to beat it
        </button>`
      }
      ${proven && html`<${Corrections} file=${loaded.file} side=${side} fileSeat=${fileSeat} />`}
      ${proven?.origin === "file" && html`<${SomeLines} proven=${proven} ...${state} />`}
    </article>
  `;
}

function AllLines({ grades, selection }) {
  const { proofCheck } = grades;
  const { loaded } = selection;
  const canCheck = isFeasible(rulesOf(loaded.file.envId));
  const check = proofCheck?.key === loaded.key ? proofCheck : null;
  const isRunning = Boolean(check?.isRunning);
  const isProblem = Boolean(check?.isProblem);
  let text = check?.text ?? "";
  if (isRunning) text = `Following the lines of play: ${number(check.positions)} positions…`;
  if (!canCheck) {
    text = "This game has too many positions to follow all lines of play in a browser.";
  }
  return html`
    <div class="bar">
      <button
        type="button"
        disabled=${isRunning || !canCheck}
        onClick=${() => checkAllLines({ grades, selection })}
      >
        Check again in this browser
      </button>
      ${
        isRunning &&
        html`<button type="button" onClick=${() => grades.engine.stopGrade()}>Stop</button>`
      }
    </div>
    <${Result} isProblem=${isProblem}>${text}<//>
  `;
}

// The panel; it is of the selected agent of the current game.
export function ProofPanel(state) {
  const { agent, update, loaded } = state.selection;
  if (!agent) return html`<p class="note">There is no learned agent of this game.</p>`;
  if (!loaded) return html`<p class="note">Loading the agent…</p>`;
  const at = update === null ? "" : ` at update ${number(update)}`;
  return html`
    <p><b>${agent.title}${at}</b></p>
    <p class="note">${PROOF} ${loaded.file.corrections && CORRECTIONS}</p>
    ${
      update === null &&
      WITH_THEOREM.includes(agent.id) &&
      html`<p class="note">${THEOREM}</p>`
    }
    <div class="proofs">
      ${SIDES.map((side) => html`<${Card} key=${side} side=${side} ...${state} />`)}
    </div>
    <${AllLines} ...${state} />
  `;
}
