// The tab "Learning": a training, its curves, the snapshots, and the kept agents.

import { LETTERS, Rules, SIDES, rulesOf } from "../engine/rules.js";
import { byFile, seatOf, sourceOfRates } from "../state/grades.js";
import { confirmed, say } from "../state/messages.js";
import { number } from "../state/words.js";
import { smallBoard } from "./board.js";
import { LearningCurves, RoundCurves, hasRounds } from "./curves.js";
import { Button, Check, FileButton, Radios } from "./ui.js";
import { html } from "../vendor/htm-preact.js";

const WORDS =
  "An update is one step of learning, from moves in many games at once. A proof follows every " +
  "line of play against the agent: if it loses none, nobody can beat it.";
const SLIDERS = {
  learning_rate: {
    name: "Learning rate",
    help: "How far each update moves the values. High learns fast but forgets; low is slow.",
  },
  gamma: {
    name: "Discount",
    help: "How much a later result counts. Below 1, a quick win is worth more than a slow one.",
  },
  epsilon: {
    name: "Exploration",
    help: "The share of random moves in self-play, so that it finds what it does not know.",
  },
};
const METHODS = {
  exact: "exact results",
  "partly sampled": "exact results and sampled games",
  sampled: "sampled games",
};
const STEPS = 1000; // of a slider

// Offer an agent's file to download, or say why that is not possible.
function download(app, id, update = null) {
  app.agents.download(id, update).catch((error) => say(error.message));
}

// ---- training

// Where a value lies on its slider, 0 to `STEPS`; wide ranges are logarithmic.
function positionOf({ min, max }, value) {
  const isWide = min > 0 && max / min > 50;
  const share = isWide ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min);
  return Math.round(STEPS * Math.min(Math.max(share, 0), 1));
}

function valueAt({ min, max }, position) {
  const isWide = min > 0 && max / min > 50;
  const share = position / STEPS;
  const value = isWide ? min * (max / min) ** share : min + (max - min) * share;
  // A digit more than is shown, so that each position has a value of its own.
  return Math.min(Math.max(Number(value.toPrecision(4)), min), max);
}

function Slider({ training, id, setting }) {
  const { name, help } = SLIDERS[id];
  const value = training.valueOf(id);
  const text = String(Number(value.toPrecision(3)));
  return html`
    <div class="slider">
      <label for=${id}>${name}</label>
      <output for=${id}>${text}</output>
      <input
        type="range"
        id=${id}
        min="0"
        max=${STEPS}
        value=${positionOf(setting, value)}
        aria-valuetext=${text}
        aria-describedby=${`${id}-help`}
        onInput=${(event) => training.move(id, valueAt(setting, Number(event.target.value)))}
        onChange=${(event) =>
          training.change({ [id]: valueAt(setting, Number(event.target.value)) })}
      />
      <p class="note" id=${`${id}-help`}>${help}</p>
    </div>
  `;
}

function Sliders({ training }) {
  const { settings, from_people, people_games, status } = training.status;
  const isMoved = Object.values(settings).some(({ moved }) => moved);
  const isBegun = from_people && status !== "idle";
  const games = isBegun ? `${number(people_games)} so far` : "once training has begun";
  return html`
    <div class="sliders">
      ${Object.keys(SLIDERS)
        .filter((id) => id in settings)
        .map(
          (id) =>
            html`<${Slider} key=${id} training=${training} id=${id} setting=${settings[id]} />`,
        )}
    </div>
    <div class="bar">
      <${Button} isDisabled=${!isMoved} onClick=${() => training.setDefaults()}>Defaults<//>
    </div>
    ${
      from_people &&
      html`<div class="switches">
        <${Check}
          label="Learn from my games, too"
          checked=${training.valueOf("learn_from_people")}
          onChange=${(isOn) => training.change({ learn_from_people: isOn })}
        />
        <span class="note">${games}</span>
      </div>`
    }
  `;
}

function Figures({ training }) {
  const { games, wins, draws, loss, positions_learned } = training.status;
  const figures = [
    ["Games", number(games)],
    [`${LETTERS.x} won`, number(wins.x)],
    [`${LETTERS.o} won`, number(wins.o)],
    ["Draws", number(draws)],
    ["Loss", loss === null ? "–" : loss.toPrecision(2)],
  ];
  if (typeof positions_learned === "number") {
    figures.push(["Positions learned", number(positions_learned)]);
  }
  return html`
    <dl class="cards">
      ${figures.map(
        ([name, text]) =>
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd>${text}</dd>
          </div>`,
      )}
    </dl>
  `;
}

// Keep the agent in training under a name.
function SaveForm({ app, entry }) {
  const save = (event) => {
    event.preventDefault();
    const { input } = event.target.elements;
    app.training.save(input.value);
    input.value = "";
  };
  return html`
    <form class="bar" onSubmit=${save}>
      <input
        name="input"
        class="name"
        aria-label="Name of the agent"
        maxlength="60"
        placeholder=${app.agents.nameFor(entry)}
      />
      <button type="submit">Save under a name</button>
    </form>
  `;
}

// The seed of the next trainings, where this page trains: the same one gives the same agent.
function SeedField({ training }) {
  return html`
    <label class="seed">
      Seed
      <input
        class="name"
        inputmode="numeric"
        maxlength="9"
        placeholder="any"
        value=${training.seedText}
        onInput=${(event) => training.chooseSeed(event.target.value)}
      />
    </label>
  `;
}

// What brings the agent in training to the board, where it is not there.
function BoardButton({ training }) {
  const { otherGame } = training;
  if (!otherGame && (!training.hasAgent || training.isOnBoard)) return null;
  const isBegun = training.status.status !== "idle";
  const subject = isBegun ? "This training is of" : "It learns";
  const text = otherGame
    ? html`<span>${subject} <b>${otherGame}</b>, not ${isBegun && "of "}the open game.</span>`
    : html`<span>The board does not show the agent in training.</span>`;
  const open = () => (training.hasAgent ? training.showOnBoard() : training.openGame());
  const verb = otherGame ? `Open ${otherGame}` : "Show its values";
  const canOpen = training.hasAgent || training.isOffered;
  return html`<p class="notice">
    ${text}${canOpen && html`<button type="button" onClick=${open}>${verb}</button>`}
  </p>`;
}

function Train({ app }) {
  const { training } = app;
  const { learner, learners, isBusy, isLost, status } = training;
  const isIdle = !status || status.status === "idle";
  const isPaused = status?.status === "paused";
  const options = learners.map(({ id, title }) => [id, title, isBusy]);
  const look = ["verdict-live"];
  if (training.isProven) look.push("proven");
  if (training.isProven && training.isMoment) look.push("moment");
  return html`
    <section class="part training" aria-label="Training">
      <${Radios}
        name="learner"
        legend="What learns"
        options=${options}
        value=${learner}
        onChange=${(id) => training.choose(id)}
      />
      <div class="bar">
        <${Button}
          look="primary"
          isDisabled=${isLost || !status || (isBusy && !training.source.isHere)}
          onClick=${() => training.start()}
        >
          ${isIdle || !training.source.isHere ? "Start" : "Again"}
        <//>
        <${Button}
          isDisabled=${isLost || !isBusy}
          onClick=${() => training.send(isPaused ? "continue" : "pause")}
        >
          ${isPaused ? "Continue" : "Pause"}
        <//>
        <${Button}
          isDisabled=${isLost || isIdle}
          onClick=${() => training.reset()}
        >
          Reset
        <//>
        ${training.source.isHere && html`<${SeedField} training=${training} />`}
      </div>
      <${BoardButton} training=${training} />
      <p class="state">${training.stateText}</p>
      <progress max="1" value=${training.share} aria-label="Updates made"></progress>
      <p class=${look.join(" ")}>
        ${training.proofText && training.otherGame ? `${training.otherGame}: ` : ""}
        ${training.proofText}
      </p>
      <p class="problem" role="alert">${training.problem || status?.error || ""}</p>
    </section>
  `;
}

function TrainingSettings({ training }) {
  if (!training.status) return null;
  if (!training.hasSettings) {
    return html`<p class="part note">The settings are shown once this training has begun.</p>`;
  }
  return html`
    <section class="part" aria-label="Settings of the training">
      <${Sliders} training=${training} />
    </section>
  `;
}

// What learns, in words and figures.
function Details({ training }) {
  const { learner, learners } = training;
  const help = learners.find(({ id }) => id === learner)?.help;
  return html`
    <section class="part" aria-label="Figures of the training">
      ${training.hasSettings && html`<${Figures} training=${training} />`}
      <p class="note">${help} ${WORDS}</p>
    </section>
  `;
}

// ---- curves

function LosingLine({ training, row, side }) {
  const { rules } = training;
  const line = seatOf(row.grade, side)?.losing_line;
  const positions = line?.length ? rules.positions(line) : null;
  if (positions === null) return null;
  const last = positions.at(-1);
  const letter = LETTERS[side];
  return html`
    <figure class="losing">
      <figcaption>As ${letter} it loses this game</figcaption>
      ${smallBoard(rules, last, last.last)}
      <div class="bar">
        <button type="button" onClick=${() => training.demonstrate(line, side)}>
          Show it on the board<span class="unseen"> as ${letter}</span>
        </button>
      </div>
    </figure>
  `;
}

// The rounds of a training that searches for lost positions.
function Rounds({ training, rows }) {
  const rounds = rows.filter(({ update, grade }) => update > 0 && hasRounds([{ grade }]));
  const row = rounds.at(-1);
  const sum = (field) =>
    SIDES.reduce((count, side) => count + (seatOf(row.grade, side)?.[field] ?? 0), 0);
  const starts = row ? sum("losing_choices") : 0;
  const next = starts > 0 ? ` Half of the next games start at ${number(starts)} positions.` : "";
  const ends = row ? sum("losing_ends") : 0;
  const left = ends === 1 ? "1 losing end is left." : `${number(ends)} losing ends are left.`;
  return html`
    ${row && html`<p>Round ${number(rounds.length)}: ${left}${next}</p>`}
    <${RoundCurves} rows=${rows} />
    ${
      row &&
      html`<div class="proofs">
        ${SIDES.map(
          (side) =>
            html`<${LosingLine} key=${side} training=${training} row=${row} side=${side} />`,
        )}
      </div>`
    }
  `;
}

function titleOfTraining({ agents, training }) {
  const title = agents.live?.title ?? "From training";
  return training.otherGame ? `${title}, ${training.otherGame}` : title;
}

// The agent that the panel is about, the one in training or the selected one:
// { entry (or null), update, isTraining }.
function subjectOf({ agents, selection, training }) {
  const { agent, update } = selection;
  const isSelected = agent?.source === "live";
  if (!isSelected && !training.isShown) return { entry: agent, update, isTraining: false };
  return { entry: agents.live, update: isSelected ? update : null, isTraining: true };
}

// Its curves: { title, rows, update, reason, isTraining, isLoading }.
function shownCurves(app) {
  const { training, rules, grades } = app;
  const { entry: agent, update, isTraining } = subjectOf(app);
  if (isTraining) {
    return {
      title: titleOfTraining(app),
      rows: training.rows,
      update,
      reason: "the curves begin soon",
      isTraining,
    };
  }
  if (!agent) return { title: "", rows: [], update: null, reason: "no agent" };
  const { rows, isLoading, error } = grades.historyOf(rules, agent);
  const reason = isLoading ? "loading…" : error || "no history";
  return { title: agent.title, rows, update, reason, isTraining: false, isLoading };
}

function Curves({ app }) {
  const { training } = app;
  const { agent } = app.selection;
  const { title, rows, update, reason, isTraining, isLoading } = shownCurves(app);
  const rounds = rows.filter((row) => hasRounds([row]));
  const hasTraining = training.status && training.status.status !== "idle";
  const canChoose = hasTraining && agent && agent.source !== "live";
  const options = [
    ["training", "The training"],
    ["agent", "The selected agent"],
  ];
  return html`
    <section class="part" aria-label="Curves">
      ${
        canChoose &&
        html`<${Radios}
          name="curves"
          legend="Shown here"
          options=${options}
          value=${isTraining ? "training" : "agent"}
          onChange=${(value) => training.show(value === "training")}
        />`
      }
      ${isTraining && hasRounds(rows) && html`<${Rounds} training=${training} rows=${rows} />`}
      ${!isTraining && rounds.length > 1 && html`<${RoundCurves} rows=${rows} />`}
      <${LearningCurves} rows=${rows} update=${update} reason=${reason} />
      <p class="note">
        ${title && `${title}: `}
        ${rows.length > 0 && `${METHODS[sourceOfRates(rows)]} against random play${byFile(rows)}. `}
        ${isLoading && `computing the results of ${agent.snapshots.length} snapshots…`}
        ${title && rows.length === 0 && !isLoading && reason}
      </p>
    </section>
  `;
}

// ---- snapshots

// The agent's snapshots, and what can be done with it.
function Timeline({ app }) {
  const { selection, training } = app;
  const { entry, update, isTraining } = subjectOf(app);
  if (!entry) return null;
  const { id, title, snapshots, updates } = entry;
  const last = Math.max(snapshots.length - 1, 0);
  const isUsable = snapshots.length > 1;
  const text = `update ${number(update ?? updates)} of ${number(updates)}`;
  const select = (at) => {
    if (isTraining) training.openGame();
    selection.select(id, at);
  };
  const move = (i) => select(i === last ? null : snapshots[i]);
  const play = () => {
    select(update);
    app.play.playSelected();
  };
  return html`
    <section class="part" aria-label="Snapshots">
      <div class="slider">
        <label for="snapshot">Snapshot</label>
        <output for="snapshot">${text}</output>
        <input
          type="range"
          id="snapshot"
          min="0"
          max=${last}
          value=${update === null ? last : snapshots.indexOf(update)}
          disabled=${!isUsable}
          aria-valuetext=${text}
          onInput=${(event) => move(Number(event.target.value))}
        />
        <p class="note">
          ${title}.
          ${!isUsable && " This agent has no snapshots."}
          ${
            isUsable &&
            id === selection.agent?.id &&
            " The values on the board and the proof are of this snapshot."
          }
        </p>
      </div>
      <div class="bar">
        <button type="button" onClick=${play}>
          ${update === null ? "Play against it" : "Play against it as it was then"}
        </button>
        <${Button} isDisabled=${update === null} onClick=${() => selection.select(id)}>
          Back to the latest
        <//>
        <${Button}
          isDisabled=${update === null}
          onClick=${() => app.comparison.open({ id, update }, { id, update: null })}
        >
          Compare with the final agent
        <//>
        <button type="button" onClick=${() => download(app, id, update)}>Download</button>
      </div>
      ${isTraining && html`<${SaveForm} app=${app} entry=${entry} />`}
    </section>
  `;
}

// ---- kept agents

async function addFile(app, file) {
  try {
    const name = file.name.replace(/\.safetensors$/, "");
    const id = app.agents.keep(name, await file.arrayBuffer());
    say(`Added as "${app.agents.get(id).name}".`);
  } catch (error) {
    say(`${file.name} was not added: ${error.message}`);
  }
}

async function removeAgent(app, { id, name }) {
  if (!(await confirmed(`Delete the agent "${name}"?`, "Delete"))) return;
  try {
    await app.agents.remove(id);
    say(`"${name}" is deleted.`);
  } catch (error) {
    say(error.message);
  }
}

function KeptAgent({ app, entry }) {
  const { id, title, name, env_id } = entry;
  const game = Rules.knows(env_id) ? rulesOf(env_id).title : env_id;
  return html`
    <li>
      <span>${title}, ${game}</span>
      <span class="bar quiet">
        <button type="button" onClick=${() => download(app, id)}>
          Download<span class="unseen"> ${name}</span>
        </button>
        <button type="button" onClick=${() => removeAgent(app, entry)}>
          Delete<span class="unseen"> ${name}</span>
        </button>
      </span>
    </li>
  `;
}

function KeptAgents({ app }) {
  const { agents } = app;
  const entries = agents.list.filter((entry) => agents.canRemove(entry));
  return html`
    <section class="part" aria-labelledby="kept-title">
      <h3 id="kept-title">Your agents</h3>
      ${entries.length === 0 && html`<p class="note">No agent is kept yet.</p>`}
      <ul class="kept">
        ${entries.map((entry) => html`<${KeptAgent} key=${entry.id} app=${app} entry=${entry} />`)}
      </ul>
      ${agents.refused.map(
        ({ name, reason }) =>
          html`<p class="note" key=${name}>${name} is not usable: ${reason}</p>`,
      )}
      <div class="bar">
        <${FileButton} accept=".safetensors" onFile=${(file) => addFile(app, file)}>
          Add an agent's file…
        <//>
      </div>
      <p class="note">
        An agent's file is a download from here, or agent.safetensors of a run. To play against it
        in a terminal: python -m jax_ttt.play FILE.
      </p>
    </section>
  `;
}

// The panel; its curves and snapshots are of the selected agent, or of a training. What moves
// is on top.
export function LearningPanel({ app }) {
  const { training } = app;
  return html`
    <${Train} app=${app} />
    <${Curves} app=${app} />
    <${TrainingSettings} training=${training} />
    <${Timeline} app=${app} />
    <${Details} training=${training} />
    <${KeptAgents} app=${app} />
  `;
}
