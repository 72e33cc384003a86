// The tab "Learn": a training, runs that can be watched, curves, snapshots, and kept agents.

import { LEARNERS } from "../engine/learner_settings.js";
import { DATA } from "../engine/page_data.js";
import { LETTERS, Rules, SIDES, rulesOf } from "../engine/rules.js";
import { byFile, seatOf, sourceOfRates } from "../state/grades.js";
import { confirmed, say } from "../state/messages.js";
import { MAX_SEED } from "../state/training.js";
import { number } from "../state/words.js";
import { AddAgent } from "./add_agent.js";
import { smallBoard } from "./board.js";
import { LearningCurves, RoundCurves, hasRounds } from "./curves.js";
import { copy } from "./share.js";
import { Slider, SnapshotSlider } from "./sliders.js";
import { Button, Check, Radios, focusTab } from "./ui.js";
import { Watching } from "./watching.js";
import { html } from "../vendor/preact.js";

const WORDS =
  "An update is one step of learning, from moves in many games at once. A proof follows every " +
  "line of play against the agent: if it loses none, nobody can beat it.";
const SLIDERS = DATA.sliders;
const METHODS = {
  exact: "exact results",
  "partly sampled": "exact results and sampled games",
  sampled: "sampled games",
};
const STEPS = 1000; // of a slider

function gameTitle(envId) {
  return Rules.knows(envId) ? rulesOf(envId).title : envId;
}

// Offer an agent's file to download, or say why that is not possible.
function download(agents, id, update = null) {
  agents.download(id, update).catch((error) => say(error.message));
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

function SettingSlider({ training, id, setting }) {
  const { name, help } = SLIDERS[id];
  return html`
    <${Slider}
      id=${id}
      label=${name}
      text=${String(Number(setting.value.toPrecision(3)))}
      max=${STEPS}
      value=${positionOf(setting, setting.value)}
      help=${help}
      onInput=${(position) => training.move({ [id]: valueAt(setting, position) })}
    />
  `;
}

function TrainingSettings({ training }) {
  const { sliders, state, figures } = training;
  const isMoved = Object.values(sliders).some((slider) => slider.isMoved);
  const games =
    state === "idle" ? "once training has begun" : `${number(figures.people_games)} so far`;
  return html`
    <section class="part" aria-label="Settings of the training">
      <div class="sliders">
        ${Object.keys(SLIDERS).map(
          (id) =>
            html`<${SettingSlider}
              key=${id}
              training=${training}
              id=${id}
              setting=${sliders[id]}
            />`,
        )}
      </div>
      <div class="bar">
        <${Button} isDisabled=${!isMoved} onClick=${() => training.setDefaults()}>Defaults<//>
      </div>
      <div class="switches">
        <${Check}
          label="Learn from my games, too"
          checked=${training.learnsFromPeople}
          onChange=${(isOn) => {
            training.learnsFromPeople = isOn;
          }}
        />
        <span class="note">${games}</span>
      </div>
    </section>
  `;
}

function Figures({ learning }) {
  return html`
    <dl class="cards">
      ${learning.cards.map(
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
function SaveForm({ agents, training, entry }) {
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
        placeholder=${agents.nameFor(entry)}
      />
      <button type="submit">Save under a name</button>
    </form>
  `;
}

// What brings the agent that learns to the board, where it is not there.
function BoardButton({ learning }) {
  const { entry, isOnBoard, otherGame } = learning;
  if (entry === null || isOnBoard) return null;
  const text = otherGame
    ? html`<span>This run is of <b>${otherGame}</b>, not of the open game.</span>`
    : html`<span>The board does not show the agent in training.</span>`;
  return html`<p class="notice">
    ${text}
    <button type="button" onClick=${() => learning.showOnBoard()}>
      ${otherGame ? `Open ${otherGame}` : "Show its values"}
    </button>
  </p>`;
}

// How far a training is, and what is proven of its agent.
function Progress({ learning }) {
  const look = ["verdict-live"];
  if (learning.provenAt !== null) look.push("proven");
  return html`
    <${BoardButton} learning=${learning} />
    <p class="state">${learning.stateText}</p>
    <progress max="1" value=${learning.share} aria-label="Updates made"></progress>
    <p class=${look.join(" ")}>${learning.proofText}</p>
  `;
}

// The training in this page. The browser checks the seed: the same one gives the same agent.
function Train({ training }) {
  const { learner, isBusy, state } = training;
  const options = Object.entries(LEARNERS).map(([id, { title }]) => [id, title, isBusy]);
  const start = (event) => {
    event.preventDefault();
    training.start();
  };
  return html`
    <section class="part training" aria-label="Training">
      <${Radios}
        name="learner"
        legend="What learns"
        options=${options}
        value=${learner}
        onChange=${(id) => {
          training.learner = id;
        }}
      />
      <form class="bar" onSubmit=${start}>
        <button type="submit" class="primary">${state === "idle" ? "Start" : "Again"}</button>
        <${Button} isDisabled=${!isBusy} onClick=${() => training.pause()}>
          ${state === "paused" ? "Continue" : "Pause"}
        <//>
        <${Button} isDisabled=${state === "idle"} onClick=${() => training.reset()}>Reset<//>
        <label class="seed">
          Seed
          <input
            type="number"
            class="name"
            min="0"
            max=${MAX_SEED}
            placeholder="any"
            value=${training.seedText}
            onInput=${(event) => {
              training.seedText = event.target.value;
            }}
          />
        </label>
      </form>
      <${Progress} learning=${training} />
      <p class="problem" role="alert">${training.error}</p>
    </section>
  `;
}

// In a game that the page does not train: the way to the one that it does.
function TrainElsewhere({ learn }) {
  const watch = () => {
    learn.watchOne();
    focusTab("learning");
  };
  return html`
    <section class="part" aria-label="Training">
      <div class="bar">
        <button type="button" onClick=${watch}>Watch one learn tic-tac-toe</button>
      </div>
    </section>
  `;
}

// What learns, in words and figures.
function Details({ training }) {
  return html`
    <section class="part" aria-label="Figures of the training">
      <${Figures} learning=${training} />
      <p class="note">${LEARNERS[training.learner].help} ${WORDS}</p>
    </section>
  `;
}

// ---- runs of other processes

// The run that is watched.
function WatchedRun({ followed }) {
  const { name, rules, plan } = followed;
  const hasNoRules = rules === null && plan.env_id !== undefined;
  const isWithoutAgent = rules !== null && followed.entry === null;
  const stop = () => {
    followed.watch(null);
    focusTab("learning");
  };
  return html`
    <section class="part" aria-label="Watched run">
      <h3>Run ${name}</h3>
      <${Progress} learning=${followed} />
      <${Figures} learning=${followed} />
      <p class="note">
        ${hasNoRules && `The page does not have the rules of ${plan.env_id}, so it shows no board. `}
        ${isWithoutAgent && "It has no snapshots yet: runs keep them with --snapshots."}
      </p>
      <div class="bar">
        <button type="button" onClick=${stop}>Stop watching</button>
      </div>
    </section>
  `;
}

function RunInTraining({ followed, run }) {
  const { name, env_id, preset } = run;
  const game = gameTitle(env_id);
  const isWatched = followed.name === name;
  return html`
    <li>
      <span>${name}: ${game}, preset ${preset}</span>
      <${Button} isDisabled=${isWatched} onClick=${() => followed.watch(name)}>
        Watch it<span class="unseen"> ${name}</span>
      <//>
    </li>
  `;
}

// The runs in training, and the command that begins one; without a server, how to get one.
function RunsInTraining({ agents, followed }) {
  const { runs, command } = agents;
  const hasServer = command !== null;
  return html`
    <section class="part" aria-labelledby="runs-title">
      <h3 id="runs-title">Runs in training</h3>
      <ul class="kept">
        ${runs.map((run) => html`<${RunInTraining} key=${run.name} followed=${followed} run=${run} />`)}
      </ul>
      ${
        hasServer
          ? html`<p class="note">
                ${runs.length === 0 && "No run is in training. "}Any training can be watched here, for
                instance Connect Four 4 × 4 until its proof:
              </p>
              <div class="bar command">
                <code>${command}</code>
                <button type="button" onClick=${() => copy("Command", command)}>
                  Copy<span class="unseen"> the command</span>
                </button>
              </div>`
          : html`<p class="note">
              With the program installed, <code>python -m jax_ttt.web</code> opens this page with its
              runs: any training of any game can then be watched here.
            </p>`
      }
    </section>
  `;
}

// ---- curves

function LosingLine({ learning, row, side }) {
  const { rules } = learning;
  const line = seatOf(row.grade, side)?.losing_line;
  const positions = line?.length ? (rules?.positions(line) ?? null) : null;
  if (positions === null) return null;
  const last = positions.at(-1);
  const letter = LETTERS[side];
  return html`
    <figure class="losing">
      <figcaption>As ${letter} it loses this game</figcaption>
      ${smallBoard(rules, last, { last: last.last })}
      <div class="bar">
        <button type="button" onClick=${() => learning.demonstrate(line, side)}>
          Show it on the board<span class="unseen"> as ${letter}</span>
        </button>
      </div>
    </figure>
  `;
}

// The rounds of a training that searches for lost positions.
function Rounds({ learning, rows }) {
  const rounds = rows.filter(({ update, grade }) => update > 0 && hasRounds([{ grade }]));
  const row = rounds.at(-1);
  const sum = (field) =>
    SIDES.reduce((count, side) => count + (seatOf(row.grade, side)?.[field] ?? 0), 0);
  const starts = row ? sum("losing_choices") : 0;
  const next = starts > 0 ? ` Half of the next games start at ${number(starts)} positions.` : "";
  const ends = row ? sum("losing_ends") : 0;
  const left = ends === 1 ? "1 winning reply is left." : `${number(ends)} winning replies are left.`;
  return html`
    ${row && html`<p>Round ${number(rounds.length)}: ${left}${next}</p>`}
    <${RoundCurves} rows=${rows} />
    ${
      row &&
      html`<div class="proofs">
        ${SIDES.map(
          (side) =>
            html`<${LosingLine} key=${side} learning=${learning} row=${row} side=${side} />`,
        )}
      </div>`
    }
  `;
}

function Curves({ learn }) {
  const { learning } = learn.subject;
  const { title, rows, update, reason } = learn.shownCurves;
  const rounds = rows.filter((row) => hasRounds([row]));
  const { choices } = learn;
  const canChoose = choices.length > 1;
  if (!learning && rows.length === 0 && !canChoose) {
    return html`<section class="part" aria-label="Curves">
      <p class="note">${title && `${title}: ${reason}.`}</p>
    </section>`;
  }
  const chosen = choices.find(([, , shown]) => shown === learning);
  return html`
    <section class="part" aria-label="Curves">
      ${
        canChoose &&
        html`<${Radios}
          name="curves"
          legend="Shown here"
          options=${choices.map(([name, text]) => [name, text])}
          value=${chosen?.[0]}
          onChange=${(value) => {
            learn.curves = choices.find(([name]) => name === value)[2];
          }}
        />`
      }
      ${learning && hasRounds(rows) && html`<${Rounds} learning=${learning} rows=${rows} />`}
      ${!learning && rounds.length > 1 && html`<${RoundCurves} rows=${rows} />`}
      <${LearningCurves} rows=${rows} update=${update} reason=${reason} />
      <p class="note">
        ${title && `${title}: `}
        ${rows.length > 0 && `${METHODS[sourceOfRates(rows)]} against random play${byFile(rows)}. `}
        ${title && rows.length === 0 && reason}
      </p>
    </section>
  `;
}

// ---- snapshots

// The agent's snapshots, and what can be done with it.
function Timeline({ agents, comparison, learn, play, selection }) {
  const { learning, entry, update } = learn.subject;
  if (!entry) return null;
  const { id, title, snapshots } = entry;
  const notes = [`${title}.`];
  if (snapshots.length < 2) notes.push("This agent has no snapshots.");
  else if (id === selection.agent?.id) {
    notes.push("The values on the board and the proof are of this snapshot.");
  }
  const select = (at) => {
    learning?.openOwnGame();
    play.select(id, at);
  };
  const playAgainst = () => {
    select(update);
    play.playSelected();
  };
  return html`
    <section class="part" aria-label="Snapshots">
      <${SnapshotSlider}
        id="snapshot"
        entry=${entry}
        update=${update}
        word="update "
        help=${notes.join(" ")}
        onChange=${select}
      >
        Snapshot
      <//>
      <div class="bar">
        <button type="button" onClick=${playAgainst}>
          ${update === null ? "Play against it" : "Play against it as it was then"}
        </button>
        <${Button} isDisabled=${update === null} onClick=${() => play.select(id)}>
          Back to the latest
        <//>
        <${Button}
          isDisabled=${update === null}
          onClick=${() => comparison.open({ id, update }, { id, update: null })}
        >
          Compare with the final agent
        <//>
        <button type="button" onClick=${() => download(agents, id, update)}>Download</button>
      </div>
      ${
        learning === learn.training &&
        html`<${SaveForm} agents=${agents} training=${learning} entry=${entry} />`
      }
    </section>
  `;
}

// ---- kept agents

async function removeAgent(agents, { id, name }) {
  if (!(await confirmed(`Delete the agent "${name}"?`, "Delete"))) return;
  agents.remove(id);
  say(`"${name}" is deleted.`);
}

function KeptAgent({ agents, entry }) {
  const { id, title, name, env_id } = entry;
  const game = gameTitle(env_id);
  return html`
    <li>
      <span>${title}, ${game}</span>
      <span class="bar quiet">
        <button type="button" onClick=${() => download(agents, id)}>
          Download<span class="unseen"> ${name}</span>
        </button>
        <button type="button" onClick=${() => removeAgent(agents, entry)}>
          Delete<span class="unseen"> ${name}</span>
        </button>
      </span>
    </li>
  `;
}

function KeptAgents({ agents }) {
  const entries = agents.list.filter(({ source }) => source === "browser");
  return html`
    <section class="part" aria-labelledby="kept-title">
      <h3 id="kept-title">Your agents</h3>
      ${entries.length === 0 && html`<p class="note">No agent is kept yet.</p>`}
      <ul class="kept">
        ${entries.map((entry) => html`<${KeptAgent} key=${entry.id} agents=${agents} entry=${entry} />`)}
      </ul>
      ${agents.refused.map(
        ({ name, reason }) =>
          html`<p class="note" key=${name}>${name} is not usable: ${reason}</p>`,
      )}
      <${AddAgent} agents=${agents} />
      <p class="note">
        An agent's file is a download from here, or agent.safetensors of a run. To play against it
        in a terminal: python -m jax_ttt.play FILE.
      </p>
    </section>
  `;
}

// The panel; its curves and snapshots are of the selected agent, of a training, or of a watched
// run. What moves is on top.
export function LearningPanel(state) {
  const { agents, learn } = state;
  const { followed, isTrainedHere, training } = learn;
  const { learning } = learn.subject;
  return html`
    ${learning && html`<${Watching} learning=${learning} ...${state} />`}
    ${followed.name !== null && html`<${WatchedRun} followed=${followed} />`}
    ${isTrainedHere ? html`<${Train} training=${training} />` : html`<${TrainElsewhere} learn=${learn} />`}
    <${Curves} learn=${learn} />
    ${isTrainedHere && html`<${TrainingSettings} training=${training} />`}
    <${Timeline} ...${state} />
    ${isTrainedHere && html`<${Details} training=${training} />`}
    <${RunsInTraining} agents=${agents} followed=${followed} />
    <${KeptAgents} agents=${agents} />
  `;
}
