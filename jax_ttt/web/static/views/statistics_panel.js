// The tab "Statistics": the person's results in the current game, and their export.

import { LETTERS, SIDES } from "../engine/rules.js";
import { download } from "../files/storage.js";
import { LEVELS } from "../state/levels.js";
import { confirmed, say } from "../state/messages.js";
import { number, percent } from "../state/words.js";
import { FileButton } from "./ui.js";
import { html } from "../vendor/preact.js";

const CARDS = { games: "Games", won: "You won", drawn: "Draws", lost: "You lost" };
const COLUMNS = { games: "Games", won: "Won", drawn: "Drawn", lost: "Lost" };
const NOT_KEPT = "This browser keeps nothing for this page. Export the statistics to keep them.";
const KEPT =
  "Kept in this browser, for all games. Export writes them to a file. " +
  "Games after Undo, from an earlier position, a link or a set-up position do not count.";

function Table({ caption, head, rows }) {
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">${head}</th>
        ${Object.values(COLUMNS).map((text) => html`<th scope="col">${text}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ([name, counts]) =>
          html`<tr>
            <th scope="row">${name}</th>
            ${Object.keys(COLUMNS).map((key) => html`<td>${number(counts[key])}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function opponentName({ level, title }) {
  return title || (LEVELS[level]?.name ?? level);
}

function show(statistics, text) {
  statistics.outcome = { text, count: statistics.games.length };
  say(text);
}

function exportFile(statistics) {
  download("jax_ttt-statistics.json", statistics.fileText, "application/json");
}

async function importFile(statistics, file) {
  try {
    statistics.addFile(await file.text());
    show(statistics, "The games of the file are here now.");
  } catch (error) {
    const reason = error.message.replace(/\.$/, "");
    show(statistics, `The file was not imported: ${reason}. Nothing was changed.`);
  }
}

async function clear(statistics) {
  if (!(await confirmed("Clear the statistics of all your games?", "Clear"))) return;
  statistics.clear();
  show(statistics, "The statistics are cleared.");
}

// The panel; its tables are of the current game.
export function StatisticsPanel({ settings, statistics }) {
  const { outcome } = statistics;
  const isRecent = outcome?.count === statistics.games.length;
  const storage = statistics.isPersistent ? KEPT : NOT_KEPT;
  const { all, sides, opponents } = statistics.countsOf(settings.rules.envId);
  const bySide = SIDES.map((side) => [`As ${LETTERS[side]}`, sides[side]]);
  const byOpponent = opponents.map((opponent) => [opponentName(opponent), opponent.counts]);
  if (byOpponent.length === 0) byOpponent.push(["No games yet", all]);
  return html`
    <dl class="cards">
      ${Object.entries(CARDS).map(
        ([key, text]) =>
          html`<div>
            <dt>${text}</dt>
            <dd>${number(all[key])}</dd>
          </div>`,
      )}
      <div>
        <dt>Win rate</dt>
        <dd>${all.games ? percent(all.won / all.games) : "–"}</dd>
      </div>
    </dl>
    <div class="tables">
      <${Table} caption="By side" head="Your side" rows=${bySide} />
      <${Table} caption="By opponent" head="Opponent" rows=${byOpponent} />
    </div>
    <div class="bar">
      <button type="button" onClick=${() => exportFile(statistics)}>Export</button>
      <${FileButton} accept=".json,application/json" onFile=${(file) => importFile(statistics, file)}>
        Import…
      <//>
      <button
        type="button"
        class="danger"
        disabled=${statistics.games.length === 0}
        onClick=${() => clear(statistics)}
      >
        Clear the statistics
      </button>
    </div>
    <p class="note">${isRecent ? outcome.text : storage}</p>
  `;
}
