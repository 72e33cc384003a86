// The page: a board with its tools, and the panels beside it.

import { html, render } from "./vendor/htm-preact.js";
import { SetupTools } from "./analysis.js";
import { App } from "./app.js";
import { Board } from "./board.js";
import { LearningPanel } from "./learning_panel.js";
import { MoveList } from "./moves.js";
import { PlayPanel } from "./play_panel.js";
import { ProofPanel } from "./proof_panel.js";
import { ReviewPanel } from "./review_panel.js";
import { asSvg, copy } from "./share.js";
import { LAYERS, TABS } from "./settings.js";
import { openSource } from "./source.js";
import { StatisticsPanel } from "./statistics_panel.js";
import { statusOf } from "./status.js";
import { Button, Check, Tabs, ThemeButton, isShortcut, number, say } from "./ui.js";

const PANELS = {
  game: PlayPanel,
  review: ReviewPanel,
  learning: LearningPanel,
  proof: ProofPanel,
  statistics: StatisticsPanel,
};
const WITHOUT_SERVER =
  "This page works without a server. Only training is missing: with the program installed, " +
  "python -m jax_ttt.web trains agents.";
const EXACT_NOTES = {
  "not known": "The exact result is not known here: too many moves are left.",
  "partly known":
    "Only the moves that win or lose at once are exact here: too many moves are left.",
};
const LEARNED =
  "Learned values go from −1, a loss, to +1, a win; the agent's own move has a frame.";
const TREMBLING =
  "They assume that the agent's opponent makes mistakes, so a drawn position can be " +
  "above 0.";

function GameLinks({ app }) {
  const games = app.games().map(({ envId, title }) => {
    const isOpen = envId === app.rules.envId;
    const open = () => app.chooseGame(envId);
    return html`<button
      key=${envId}
      type="button"
      aria-current=${isOpen ? "page" : undefined}
      onClick=${open}
    >
      ${title}
    </button>`;
  });
  return html`<nav aria-label="Games">${games}</nav>`;
}

function Status({ app }) {
  const { main, more, tone } = statusOf(app);
  const { game } = app;
  const isFinished = game.isOver && game.isLatest && !game.isDemo;
  const openReview = () => app.openPanel("review");
  let button = null;
  if (isFinished) button = ["Review this game", openReview];
  if (game.error) button = ["Try again", () => game.proceed({})];
  if (game.isDemo && app.interrupted) button = ["Back to your game", () => app.goBack()];
  return html`
    <div class="status" id="status" data-tone=${tone}>
      <p class="status-main">${main}</p>
      <p class="status-more">${app.hintText ?? more}</p>
      ${button && html`<button type="button" onClick=${button[1]}>${button[0]}</button>`}
    </div>
  `;
}

// The buttons under the board.
function Tools({ app }) {
  const { game } = app;
  if (app.analysis?.setup) return html`<${SetupTools} app=${app} />`;
  return html`
    <div class="bar">
      <button type="button" class="primary" onClick=${() => app.startNewGame()}>New game</button>
      <${Button} isDisabled=${!game.hasBegun} onClick=${() => game.undo()}>Undo<//>
      <${Button} isDisabled=${!app.canHint} onClick=${() => app.showHint()}>Hint<//>
    </div>
  `;
}

// A choice that holds from the next game on only.
function PendingChoice({ app }) {
  if (!app.isChoicePending) return null;
  return html`<p class="notice">
    Your choice holds from the next game on.${" "}
    <button type="button" onClick=${() => app.newGame()}>Start a new game now</button>
  </p>`;
}

// What is shown on the board.
function Layers({ app }) {
  const { layers } = app;
  const names = [...app.kinds, "exact", "mistakes"];
  const state = layers.has("exact") ? app.exactState : "known";
  const checks = names.map((layer) => {
    const change = (isShown) => app.showLayer(layer, isShown);
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

// What the values on the board are. It stands last, so that nothing moves when it appears.
function LayerNotes({ app }) {
  const { rules, game, layers } = app;
  const notes = [];
  const exactNote = layers.has("exact") && EXACT_NOTES[app.exactState];
  if (exactNote) notes.push(exactNote);
  if (rules.isOver(game.position)) return null;
  const shown = app.kinds.filter((kind) => layers.has(kind)).map((kind) => app.agentOfKind(kind));
  if (shown.length) {
    const titles = shown.map(({ entry }) => entry.title).join(", ");
    notes.push(`Values of: ${titles}.`, LEARNED);
    if (shown.some(({ loaded }) => loaded?.file.config.tremble > 0)) notes.push(TREMBLING);
    if (app.isOpponentEarlier && shown.some(({ loaded }) => loaded?.id === app.opponent.agent)) {
      const updates = number(app.opponent.loaded.file.updates);
      notes.push(`Your opponent stays as it was at update ${updates} until the next game.`);
    }
  }
  return notes.length ? html`<p class="note">${notes.join(" ")}</p>` : null;
}

function Sharing({ app }) {
  const { rules, game } = app;
  const copied = async (name, text) => {
    const isCopied = await copy(text);
    say(isCopied ? `${name} copied.` : "This browser does not let the page copy.");
  };
  return html`
    <div class="bar quiet">
      <button type="button" onClick=${() => copied("Link", app.link)}>Copy link</button>
      <button type="button" onClick=${() => copied("Text", rules.text(game.position))}>
        Copy as text
      </button>
      <button type="button" onClick=${() => copied("SVG", asSvg(rules, game.position))}>
        Copy as SVG
      </button>
    </div>
  `;
}

function Panels({ app }) {
  const tabs = Object.entries(TABS).map(([id, title]) => ({
    id,
    title,
    panel: () => html`<${PANELS[id]} app=${app} />`,
  }));
  return html`
    <section class="panels" aria-label="Settings, review, learning, proof and statistics">
      <${Tabs}
        label="Panels"
        tabs=${tabs}
        selected=${app.settings.panel}
        onSelect=${(id) => app.openPanel(id)}
      />
    </section>
  `;
}

function Page({ app, placeBoard }) {
  return html`
    <a class="skip" href="#board" onClick=${app.focusBoard}>Skip to the board</a>
    <header>
      <h1>jax_ttt</h1>
      <${GameLinks} app=${app} />
      <${ThemeButton} />
    </header>
    <main>
      <section class="play" aria-labelledby="play-title">
        <h2 id="play-title" class="unseen">Game</h2>
        <${Status} app=${app} />
        <div id="board" ref=${placeBoard}></div>
        <${Tools} app=${app} />
        <${PendingChoice} app=${app} />
        <${Layers} app=${app} />
        <${MoveList} rules=${app.rules} game=${app.game} marks=${app.marks()} />
        <${Sharing} app=${app} />
        <${LayerNotes} app=${app} />
      </section>
      <${Panels} app=${app} />
    </main>
    <footer>
      <p>Learned by self-play, checked by proof. ${app.source.live ? "" : WITHOUT_SERVER}</p>
    </footer>
  `;
}

// Keys of the whole page; a field, a tab or a board that uses a key itself keeps it.
function onKey(app, event) {
  if (isShortcut(event) || event.defaultPrevented) return;
  const { target } = event;
  if (target.closest("select, textarea, [role=tablist], dialog")) return;
  const isField = target.matches("input:not([type=radio], [type=checkbox])");
  if (isField) return;
  const isInput = target.matches("input"); // the arrows are its own
  const key = event.key.toLowerCase();
  const { game } = app;
  if (key === "arrowleft" && !isInput) game.goTo(game.at - 1);
  else if (key === "arrowright" && !isInput) game.goTo(game.at + 1);
  else if (event.repeat || app.analysis?.setup) return;
  else if (key === "n") app.startNewGame();
  else if (key === "u") game.undo();
  else if (key === "h") app.showHint();
  else if (/^\d$/.test(key)) app.act(app.rules.actionOfNumber(Number(key)));
  else return;
  event.preventDefault();
}

function openPage() {
  const root = document.getElementById("page");
  let board = null;
  const placeBoard = (element) => {
    if (element && !board) board = new Board(element, { onPlay: (action) => app.act(action) });
  };
  const draw = () => {
    if (!board) root.replaceChildren();
    try {
      render(html`<${Page} app=${app} placeBoard=${placeBoard} />`, root);
    } finally {
      board?.set(app.boardState()); // also where a panel failed
    }
  };
  const app = new App({
    source: openSource(),
    render: draw,
    reveal: () => {
      board.reveal();
      document.getElementById("status").scrollIntoView({ block: "nearest" });
    },
    focusBoard: (event) => {
      event.preventDefault();
      board.focus();
    },
  });
  document.addEventListener("keydown", (event) => onKey(app, event));
  window.addEventListener("hashchange", () => app.followAddress());
  return app.start();
}

openPage().catch((error) => {
  const text = document.createElement("p");
  text.textContent = `The page could not start. ${error.message}`;
  document.getElementById("page").replaceChildren(text);
  throw error;
});
