// The page: a board with its tools, and the panels beside it.

import { provenText } from "../state/board_values.js";
import { reveal } from "../state/messages.js";
import { LAYERS, TABS, openingOf, tabWith } from "../state/settings.js";
import { statusOf } from "../state/status.js";
import { inSentence, number } from "../state/words.js";
import { SetupTools } from "./analysis_panel.js";
import { Board } from "./board.js";
import { ComparePanel } from "./compare_panel.js";
import { Invitation } from "./invitation.js";
import { LearningPanel } from "./learning_panel.js";
import { Legend } from "./legend.js";
import { MoveList } from "./moves.js";
import { NetworkPanel } from "./network_panel.js";
import { KeysPanel, PlayPanel } from "./play_panel.js";
import { ProofPanel } from "./proof_panel.js";
import { ReviewPanel } from "./review_panel.js";
import { asSvg, copy, textOf } from "./share.js";
import { StatisticsPanel } from "./statistics_panel.js";
import { Button, Check, Disclosure, Icon, Tabs, ThemeButton } from "./ui.js";
import { ProofMoment, Rates } from "./watching.js";
import { html, useErrorBoundary } from "../vendor/preact.js";

const PANELS = {
  settings: PlayPanel,
  review: ReviewPanel,
  learning: LearningPanel,
  proof: ProofPanel,
  compare: ComparePanel,
  statistics: StatisticsPanel,
  keys: KeysPanel,
  network: NetworkPanel,
};
const WITHOUT_SERVER =
  "This page works without a server. With the program installed, python -m jax_ttt.web also " +
  "has the agents of your runs, and shows runs while they train.";
const AT_ITS_BEST = "Try to beat it";
const EXACT_NOTES = {
  "not known": "The exact result is not known yet: too many moves are left.",
  "partly known":
    "Only the moves that win or lose at once are exact here: too many moves are left.",
};

function GameLinks({ navigation, settings }) {
  const all = navigation.games;
  const games = all.map(({ envId, title }, i) => {
    const isOpen = envId === settings.rules.envId;
    const [, family, size] = /^(\D+)( \d.*)?$/.exec(title);
    // A phone shows the words that games share once.
    const isRepeated = size && all[i - 1]?.title.startsWith(`${family} `);
    return html`<button
      key=${envId}
      type="button"
      aria-current=${isOpen ? "page" : undefined}
      onClick=${() => navigation.openGame(envId)}
    >
      <span class=${isRepeated ? "repeated" : ""}>${family}</span>${size}
    </button>`;
  });
  return html`<nav aria-label="Games">${games}</nav>`;
}

function Status(state) {
  const { main, more, tone } = statusOf(state);
  const { play, selfPlay, shown } = state;
  const { game } = play;
  const isFinished = game.isOver && game.isLatest && !game.isDemo;
  const openReview = () => showPanel(play, "review");
  const { nextLevel } = play;
  const buttons = [];
  if (selfPlay.isMoving) {
    buttons.push([selfPlay.isPaused ? "Go on" : "Pause", () => selfPlay.pause()]);
  } else if (tone === "proven" && play.opponent.level !== "full") {
    buttons.push([AT_ITS_BEST, () => play.playAt("full")]);
  } else if (game.error) buttons.push(["Try again", () => game.proceed()]);
  else if (game.isDemo && play.interrupted) {
    buttons.push(["Back to your game", () => play.goBack()]);
  } else if (isFinished) {
    if (nextLevel) buttons.push([`Play ${nextLevel.name} next`, () => play.playNextLevel()]);
    buttons.push(["Review this game", openReview, "panels"]);
  }
  return html`
    <div class=${`status ${buttons.length > 1 ? "two" : ""}`} id="status" data-tone=${tone}>
      <p class="status-main">${main}</p>
      <p class="status-more">${shown.hintText ?? more}</p>
      <div class="status-buttons">
        ${buttons.map(
          ([text, act, controls], i) =>
            html`<button key=${i} type="button" aria-controls=${controls} onClick=${act}>
              ${text}
            </button>`,
        )}
      </div>
    </div>
  `;
}

// The buttons under the board.
function Tools({ play, shown }) {
  const { analysis, game } = play;
  if (analysis?.setup) return html`<${SetupTools} analysis=${analysis} />`;
  return html`
    <div class="bar">
      <button type="button" class="primary" onClick=${() => play.startNewGame()}>New game</button>
      <${Button} isDisabled=${!game.hasBegun} onClick=${() => game.undo()}>Undo<//>
      <${Button} isDisabled=${!shown.canHint} onClick=${() => shown.showHint()}>Hint<//>
    </div>
  `;
}

// A choice that holds from the next game on only.
function PendingChoice({ play }) {
  if (!play.isChoicePending) return null;
  return html`<p class="notice">
    This starts with the next game.${" "}
    <button type="button" onClick=${() => play.newGame()}>Start a new game now</button>
  </p>`;
}

// What is shown on the board.
function Layers({ shown, selection }) {
  const { layers } = shown;
  // The exact values stand last: their label changes its width, and would move others.
  const names = [...selection.kinds, "numbers", "line", "mistakes", "exact"];
  const state = layers.has("exact") ? shown.exactState : "known";
  const checks = names.map((layer) => {
    const change = (isShown) => shown.showLayer(layer, isShown);
    const note = layer === "exact" && state !== "known" ? ` (${state})` : "";
    return html`<${Check}
      key=${layer}
      label=${LAYERS[layer] + note}
      checked=${layers.has(layer)}
      onChange=${change}
    />`;
  });
  return html`<div class="switches" role="group" aria-label="Show on the board">${checks}</div>`;
}

// What the legend does not say of the values. It stands last, so that nothing moves when it
// appears.
function LayerNotes({ shown, play, selection }) {
  const { rules } = play.game;
  if (rules.isOver(play.game.position)) return null;
  const notes = [];
  if (shown.layers.has("exact")) {
    notes.push(EXACT_NOTES[shown.exactState] ?? provenText(shown.proof));
  }
  const { agents, line } = shown;
  if (line.length) {
    const moves = rules.lineText(play.game.position, line);
    notes.push(`Next moves of ${inSentence(selection.title)}: ${moves}.`);
  }
  if (agents.length) {
    const titles = agents.map(({ entry }) => entry.title).join(", ");
    notes.push(`Values of: ${titles}.`);
    const { opponent } = play;
    if (shown.isOpponentEarlier && agents.some(({ loaded }) => loaded?.id === opponent.agent)) {
      const updates = number(opponent.loaded.file.updates);
      notes.push(`Your opponent stays as it was at update ${updates} until the next game.`);
    }
  }
  return notes.length ? html`<p class="note">${notes.join(" ")}</p>` : null;
}

function Sharing({ play }) {
  const { rules, position, start, moves, at } = play.game;
  const text = () => textOf(rules, position, start === rules.start ? moves.slice(0, at) : []);
  return html`
    <div class="bar quiet">
      <button type="button" onClick=${() => copy("Link", play.link)}>Copy link</button>
      <button type="button" onClick=${() => copy("Text", text())}>
        Copy as text
      </button>
      <button type="button" onClick=${() => copy("SVG", asSvg(rules, position))}>
        Copy as SVG
      </button>
    </div>
  `;
}

// A part of a tab. Where it fails, the board goes on.
function Part({ id, ...state }) {
  const [error] = useErrorBoundary((reason) => console.error(reason));
  if (error) return html`<p class="problem">This panel failed: ${error.message}</p>`;
  return html`<${PANELS[id]} ...${state} />`;
}

// The panel of a tab: its part, or where it has several, their titles, of which one is open.
function Panel({ tab, ...state }) {
  const { play, settings } = state;
  const { panel: open } = settings;
  const parts = Object.entries(TABS[tab].parts);
  if (parts.length === 1) return html`<${Part} key=${tab} id=${tab} ...${state} />`;
  return parts.map(
    ([id, title]) => html`
      <${Disclosure}
        key=${id}
        title=${title}
        isOpen=${id === open}
        onToggle=${() => play.openPanel(id === open ? tab : id)}
      >
        <${Part} id=${id} ...${state} />
      <//>
    `,
  );
}

function Panels(state) {
  const { play, settings } = state;
  const { panel: open } = settings;
  const tabs = Object.entries(TABS).map(([id, { title }]) => ({
    id,
    title,
    panel: () => html`<${Panel} tab=${id} ...${state} />`,
  }));
  return html`
    <section
      class="panels"
      id="panels"
      aria-label="Settings, learning, proof and more"
    >
      <${Tabs}
        label="Panels"
        tabs=${tabs}
        selected=${open === null ? null : tabWith(open)}
        onSelect=${(id) => showPanel(play, openingOf(id))}
      >
        <button type="button" class="to-board" onClick=${focusBoard}>
          <${Icon} name="board" />Board
        </button>
      <//>
      ${settings.isInviting && html`<${Invitation} focusBoard=${focusFirst} ...${state} />`}
    </section>
  `;
}

// What stands beside and under the board once the person plays.
function BesideBoard(state) {
  const { play, shown } = state;
  return html`
    <${PendingChoice} play=${play} />
    <${Layers} ...${state} />
    <div class="beside">
      <${MoveList} game=${play.game} marks=${shown.marks()} />
      <${Legend} ...${state} />
    </div>
    <${Sharing} play=${play} />
    <${LayerNotes} ...${state} />
  `;
}

// The board, and what covers it for a moment.
function PlayedBoard({ play, shown, selfPlay, learn }) {
  const { game } = play;
  const learning = learn.onBoard;
  return html`
    <div id="board">
      <${Board}
        key=${game.rules.envId}
        ...${selfPlay.position ? selfPlay.board(game) : shown.board()}
        onPlay=${(action) => play.act(action)}
      />
      ${learning?.isMoment && html`<${ProofMoment} learning=${learning} />`}
    </div>
    ${learning && html`<div class="under-board"><${Rates} learning=${learning} /></div>`}
  `;
}

// The page; its parts are those of `makeState`.
export function Page(state) {
  const { settings, source } = state;
  const { isInviting } = settings;
  return html`
    <a class="skip" href="#board" onClick=${focusBoard}>Skip to the board</a>
    <header>
      <h1>jax_ttt</h1>
      <${GameLinks} ...${state} />
      <${ThemeButton} />
    </header>
    <main>
      <section class=${`play ${isInviting ? "inviting" : ""}`} aria-labelledby="play-title">
        <h2 id="play-title" class="unseen">Game</h2>
        <${Status} ...${state} />
        <${PlayedBoard} ...${state} />
        <${Tools} ...${state} />
        ${!isInviting && html`<${BesideBoard} ...${state} />`}
      </section>
      <${Panels} ...${state} />
    </main>
    <footer>
      <p>${source.live ? "" : WITHOUT_SERVER}</p>
    </footer>
  `;
}

// Open a tab, and bring its panel into view, which lies below the board on a phone.
function showPanel(play, id) {
  play.openPanel(id);
  const isBelow = matchMedia("(width < 700px)").matches; // as in style.css
  if (isBelow) document.getElementById("panels").scrollIntoView();
}

function focusBoard(event) {
  event.preventDefault();
  focusFirst();
}

function focusFirst() {
  reveal();
  const first = document.querySelector("#board [tabindex='0']");
  /** @type {HTMLElement} */ (first).focus({ preventScroll: true });
}
