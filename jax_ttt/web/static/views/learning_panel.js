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
import { Button, Check, Radios, focusTab } from "./ui.js";
import { Watching } from "./watching.js";
import { html } from "../vendor/htm-preact.js";

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
  const text = String(Number(setting.value.toPrecision(3)));
  return html`
    <div class="slider">
      <label for=${id}>${name}</label>
      <output for=${id}>${text}</output>
      <input
        type="range"
        id=${id}
        min="0"
        max=${STEPS}
        value=${positionOf(setting, setting.value)}
        aria-valuetext=${text}
        aria-describedby=${`${id}-help`}
        onInput=${(event) => training.move({ [id]: valueAt(setting, Number(event.target.value)) })}
      />
      <p class="note" id=${`${id}-help`}>${help}</p>
    </div>
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
            html`<${Slider} key=${id} training=${training} id=${id} setting=${sliders[id]} />`,
        )}
      </div>
      <div class="bar">
        <${Button} isDisabled=${!isMoved} onClick=${() => training.setDefaults()}>Defaults<//>
      </div>
      <div class="switches">
        <${Check}
          label="Learn from my games, too"
          checked=${training.learnsFromPeople}
          onChange=${(isOn) => training.switchPeople(isOn)}
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
        onChange=${(id) => training.choose(id)}
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
            onInput=${(event) => training.chooseSeed(event.target.value)}
          />
        </label>
      </form>
      <${Progress} learning=${training} />
      <p class="problem" role="alert">${training.error}</p>
    </section>
  `;
}

// In a game that the page does not train: the way to the one that it does.
function TrainElsewhere({ app }) {
  const watch = () => {
    app.watchOneLearn();
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
function WatchedRun({ app }) {
  const { followed } = app;
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

function RunInTraining({ app, run }) {
  const { name, env_id, preset } = run;
  const game = Rules.knows(env_id) ? rulesOf(env_id).title : env_id;
  const isWatched = app.followed.name === name;
  return html`
    <li>
      <span>${name}: ${game}, preset ${preset}</span>
      <${Button} isDisabled=${isWatched} onClick=${() => app.followed.watch(name)}>
        Watch it<span class="unseen"> ${name}</span>
      <//>
    </li>
  `;
}

// The runs in training, and the command that begins one; without a server, how to get one.
function RunsInTraining({ app }) {
  const { runs, command } = app.agents;
  const hasServer = command !== null;
  const copyCommand = async () => {
    const isCopied = await copy(command);
    say(isCopied ? "Command copied." : "This browser does not let the page copy.");
  };
  return html`
    <section class="part" aria-labelledby="runs-title">
      <h3 id="runs-title">Runs in training</h3>
      <ul class="kept">
        ${runs.map((run) => html`<${RunInTraining} key=${run.name} app=${app} run=${run} />`)}
      </ul>
      ${
        hasServer
          ? html`<p class="note">
                ${runs.length === 0 && "No run is in training. "}Any training can be watched here, for
                instance Connect Four 4 × 4 until its proof:
              </p>
              <div class="bar command">
                <code>${command}</code>
                <button type="button" onClick=${copyCommand}>
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
  const left = ends === 1 ? "1 losing end is left." : `${number(ends)} losing ends are left.`;
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

// What the panel is about, something that learns or the selected agent: { learning (or null),
// entry (or null), update }.
function subjectOf({ followed, rules, selection, shownLearning, training }) {
  const { agent, update } = selection;
  const isHere = training.rules.envId === rules.envId;
  const shown = shownLearning === training && !isHere ? null : shownLearning;
  const selected = [training, followed].find(({ agentId }) => agentId !== null && agentId === agent?.id);
  const learning = selected && selected.state !== "finished" ? selected : (shown ?? selected ?? null);
  if (learning === null) return { learning, entry: agent, update };
  return { learning, entry: learning.entry, update: learning === selected ? update : null };
}

// Its curves: { title, rows, update, reason }.
function shownCurves(app, { learning, entry, update }) {
  if (learning !== null) {
    const title = learning === app.followed ? `Run ${learning.name}` : (entry?.title ?? "The agent you trained");
    return { title, rows: learning.rows, update, reason: "the curves begin soon" };
  }
  if (!entry) return { title: "", rows: [], update: null, reason: "no agent" };
  const { rows, isLoading, error } = app.grades.historyOf(entry);
  const reason = isLoading ? "loading…" : error || "no history";
  return { title: entry.title, rows, update, reason };
}

// What can be shown besides the selected agent: [name, text, the training or the run].
function choicesOf({ followed, rules, selection, training }) {
  const isBegun = training.state !== "idle" && training.rules.envId === rules.envId;
  const choices = [];
  if (isBegun) choices.push(["training", "The training", training]);
  if (followed.name !== null) choices.push(["run", "The watched run", followed]);
  const isOther = ![training, followed].some(({ agentId }) => agentId === selection.agent?.id);
  if (selection.agent && isOther) choices.push(["agent", "The selected agent", null]);
  return choices;
}

function Curves({ app }) {
  const subject = subjectOf(app);
  const { learning } = subject;
  const { title, rows, update, reason } = shownCurves(app, subject);
  const rounds = rows.filter((row) => hasRounds([row]));
  const choices = choicesOf(app);
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
          onChange=${(value) => app.showLearning(choices.find(([name]) => name === value)[2])}
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
function Timeline({ app }) {
  const { selection } = app;
  const { learning, entry, update } = subjectOf(app);
  if (!entry) return null;
  const { id, title, snapshots, updates } = entry;
  const last = Math.max(snapshots.length - 1, 0);
  const isUsable = snapshots.length > 1;
  const text = `update ${number(update ?? updates)} of ${number(updates)}`;
  const select = (at) => {
    learning?.openGame();
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
      ${learning === app.training && html`<${SaveForm} app=${app} entry=${entry} />`}
    </section>
  `;
}

// ---- kept agents

async function removeAgent(app, { id, name }) {
  if (!(await confirmed(`Delete the agent "${name}"?`, "Delete"))) return;
  app.agents.remove(id);
  say(`"${name}" is deleted.`);
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
  const entries = agents.list.filter(({ source }) => source === "browser");
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
      <${AddAgent} app=${app} />
      <p class="note">
        An agent's file is a download from here, or agent.safetensors of a run. To play against it
        in a terminal: python -m jax_ttt.play FILE.
      </p>
    </section>
  `;
}

// The panel; its curves and snapshots are of the selected agent, of a training, or of a watched
// run. What moves is on top.
export function LearningPanel({ app }) {
  const { followed, rules, training } = app;
  const isHere = training.rules.envId === rules.envId;
  const { learning } = subjectOf(app);
  return html`
    ${learning && html`<${Watching} app=${app} learning=${learning} />`}
    ${followed.name !== null && html`<${WatchedRun} app=${app} />`}
    ${isHere ? html`<${Train} training=${training} />` : html`<${TrainElsewhere} app=${app} />`}
    <${Curves} app=${app} />
    ${isHere && html`<${TrainingSettings} training=${training} />`}
    <${Timeline} app=${app} />
    ${isHere && html`<${Details} training=${training} />`}
    <${RunsInTraining} app=${app} />
    <${KeptAgents} app=${app} />
  `;
}
