// The tab "Learning": a training, its curves, the snapshots, and the kept agents.

import { smallBoard } from "./board.js";
import { LearningCurves, RoundCurves, hasRounds } from "./curves.js";
import { historyOf, seatOf, sourceOfRates } from "./grades.js";
import { LETTERS, Rules, SIDES } from "./rules.js";
import { Button, Check, FileButton, Radios, confirmed, number, say } from "./ui.js";
import { html } from "./vendor/htm-preact.js";

const NO_SERVER =
  "Training is missing in this page, since it works without a server. " +
  "With the program installed, python -m jax_ttt.web trains agents here.";
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
  const moving = training.positions[id];
  const value = moving === undefined ? setting.value : valueAt(setting, moving);
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
        value=${moving ?? positionOf(setting, value)}
        aria-valuetext=${text}
        aria-describedby=${`${id}-help`}
        onInput=${(event) => training.move(id, Number(event.target.value))}
        onChange=${() => training.change({ [id]: value })}
      />
      <p class="note" id=${`${id}-help`}>${help}</p>
    </div>
  `;
}

function Sliders({ training }) {
  const { settings, learn_from_people, from_people, people_games, status } = training.status;
  const isMoved = Object.values(settings).some(({ moved }) => moved);
  const games = status === "idle" ? "once training has begun" : `${number(people_games)} so far`;
  return html`
    ${Object.keys(SLIDERS)
      .filter((id) => id in settings)
      .map(
        (id) => html`<${Slider} key=${id} training=${training} id=${id} setting=${settings[id]} />`,
      )}
    <div class="bar">
      <${Button} isDisabled=${!isMoved} onClick=${() => training.setDefaults()}>Defaults<//>
    </div>
    ${
      from_people &&
      html`<div class="switches">
        <${Check}
          label="Learn from my games, too"
          checked=${learn_from_people}
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

// What can be done with the agent that learns. It never becomes the opponent by itself.
function AgentInTraining({ app }) {
  const { training, agents } = app;
  if (!training.hasAgent) return null;
  const save = (event) => {
    event.preventDefault();
    const { input } = event.target.elements;
    training.save(input.value);
    input.value = "";
  };
  return html`
    <form class="bar" onSubmit=${save}>
      <input
        name="input"
        class="name"
        aria-label="Name of the agent"
        maxlength="60"
        placeholder=${agents.nameFor(agents.live)}
      />
      <button type="submit">Save under a name</button>
      <button type="button" onClick=${() => download(app, agents.live.id)}>
        Download<span class="unseen"> from training</span>
      </button>
      <button type="button" onClick=${() => training.play()}>
        Play against it<span class="unseen"> from training</span>
      </button>
    </form>
  `;
}

function Train({ app }) {
  const { training } = app;
  const { learner, learners, isBusy, isLost, status } = training;
  const isPaused = status?.status === "paused";
  const options = learners.map(({ id, title }) => [id, title, isBusy]);
  const help = learners.find(({ id }) => id === learner)?.help;
  return html`
    <section class="part" aria-label="Training">
      <${Radios}
        name="learner"
        legend="What learns"
        options=${options}
        value=${learner}
        onChange=${(id) => training.choose(id)}
      />
      <p class="note">${help} ${WORDS}</p>
      <div class="bar">
        <${Button}
          look="primary"
          isDisabled=${isLost || !status || isBusy}
          onClick=${() => training.start()}
        >
          Start
        <//>
        <${Button}
          isDisabled=${isLost || !isBusy}
          onClick=${() => training.send(isPaused ? "continue" : "pause")}
        >
          ${isPaused ? "Continue" : "Pause"}
        <//>
        <${Button}
          isDisabled=${isLost || !status || status.status === "idle"}
          onClick=${() => training.reset()}
        >
          Reset
        <//>
      </div>
      ${
        training.otherGame &&
        html`<p class="note">
          This training is of <b>${training.otherGame}</b>, not of the open game.
        </p>`
      }
      <div class="state-line">
        <p class="state">${training.stateText}</p>
        <p class=${training.isProven ? "verdict-live proven" : "verdict-live"}>
          ${training.proofText && training.otherGame ? `${training.otherGame}: ` : ""}
          ${training.proofText}
        </p>
      </div>
      <progress max="1" value=${training.share} aria-label="Updates made"></progress>
      <p class="problem" role="alert">${training.problem || status?.error || ""}</p>
      <${AgentInTraining} app=${app} />
    </section>
  `;
}

function Details({ training }) {
  if (!training.status) return null;
  if (!training.hasSettings) {
    return html`<p class="part note">The settings are shown once this training has begun.</p>`;
  }
  return html`
    <section class="part" aria-label="Figures and settings of the training">
      <${Figures} training=${training} />
      <${Sliders} training=${training} />
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
    <${RoundCurves} rules=${training.rules} rows=${rows} />
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

// Whose curves are shown: { title, rules, rows, update, reason, isTraining, isLoading }.
function shownCurves(app) {
  const { training, rules, agent, update } = app;
  const isSelected = agent?.source === "live";
  if (isSelected || training.isShown) {
    return {
      title: titleOfTraining(app),
      rules: training.rules,
      rows: training.rows,
      update: isSelected ? update : null,
      reason: "the curves begin soon",
      isTraining: true,
    };
  }
  if (!agent) return { title: "", rules, rows: [], update: null, reason: "no agent" };
  const { rows, isLoading, error } = historyOf(app, rules, agent);
  const reason = isLoading ? "loading…" : error || "no history";
  return { title: agent.title, rules, rows, update, reason, isTraining: false, isLoading };
}

function Curves({ app }) {
  const { training, agent } = app;
  const { title, rules, rows, update, reason, isTraining, isLoading } = shownCurves(app);
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
          legend="Curves of"
          options=${options}
          value=${isTraining ? "training" : "agent"}
          onChange=${(value) => training.show(value === "training")}
        />`
      }
      <p class="note">
        ${title && `${title}: `}
        ${rows.length > 0 && `${METHODS[sourceOfRates(rows)]} against random play. `}
        ${isLoading && `computing the results of ${agent.snapshots.length} snapshots…`}
        ${title && rows.length === 0 && !isLoading && reason}
      </p>
      ${isTraining && hasRounds(rows) && html`<${Rounds} training=${training} rows=${rows} />`}
      ${!isTraining && rounds.length > 1 && html`<${RoundCurves} rules=${rules} rows=${rows} />`}
      <${LearningCurves} rules=${rules} rows=${rows} update=${update} reason=${reason} />
    </section>
  `;
}

// ---- snapshots

function Timeline({ app }) {
  const { agent, update } = app;
  if (!agent) return null;
  const { id, title, snapshots, updates } = agent;
  const last = Math.max(snapshots.length - 1, 0);
  const isUsable = snapshots.length > 1;
  const text = `update ${number(update ?? updates)} of ${number(updates)}`;
  const move = (i) => app.select(id, i === last ? null : snapshots[i]);
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
          ${
            isUsable
              ? " The values on the board and the proof are of this snapshot."
              : " This agent has no snapshots."
          }
        </p>
      </div>
      <div class="bar">
        <button type="button" onClick=${() => app.playSelected()}>
          ${update === null ? "Play against it" : "Play against it as it was then"}
        </button>
        <${Button} isDisabled=${update === null} onClick=${() => app.select(id)}>
          Back to the latest
        <//>
        <button type="button" onClick=${() => download(app, id, update)}>Download</button>
      </div>
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
  const game = Rules.knows(env_id) ? new Rules(env_id).title : env_id;
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

// The panel; its curves and snapshots are of the selected agent, or of a training.
export function LearningPanel({ app }) {
  const { training } = app;
  const canTrain = training.source !== null;
  return html`
    ${canTrain ? html`<${Train} app=${app} />` : html`<p class="note">${NO_SERVER} ${WORDS}</p>`}
    <${Curves} app=${app} />
    <${Timeline} app=${app} />
    ${canTrain && html`<${Details} training=${training} />`}
    <${KeptAgents} app=${app} />
  `;
}
