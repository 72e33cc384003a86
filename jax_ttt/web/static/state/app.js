// The page's state. All panels show an `App`, which renders the page again after each change.
// It opens games and follows the address. What is played is in play.js, what is selected in
// selection.js, what the board shows besides the stones in shown.js, and two compared agents in
// comparison.js.

import { Rules, rulesOf } from "../engine/rules.js";
import { Agents } from "./agents.js";
import { Comparison } from "./comparison.js";
import { Engine } from "./engine.js";
import { FollowedRun } from "./followed_run.js";
import { Grades } from "./grades.js";
import { fromHash, isTabAlone, tabOf, toHash } from "./links.js";
import { say } from "./messages.js";
import { Play } from "./play.js";
import { Selection } from "./selection.js";
import { Settings, openingOf, tabWith } from "./settings.js";
import { Show } from "./show.js";
import { Shown } from "./shown.js";
import { Statistics } from "./statistics.js";
import { Training } from "./training.js";

const NO_GAME = "The page does not have the game of this link.";
const ENTRY = "jax_ttt"; // the state of the history entries that this page has shown
const LOOK_EVERY = 5000; // milliseconds
const GAMES = ["tic_tac_toe", "connect_5x4", "connect_7x6"]; // offered without any run

// Call a function when the browser has nothing else to do, soon at the latest.
function whenIdle(call) {
  if (globalThis.requestIdleCallback) requestIdleCallback(call, { timeout: 2000 });
  else setTimeout(call);
}

export class App {
  source; render; reveal;

  // `render()` draws the page, `reveal()` brings the board into view.
  constructor({ source, render, reveal }) {
    const changed = () => this.changed();
    this.engine = new Engine(source);
    Object.assign(this, { source, render, reveal });
    this.training = new Training(this);
    this.followed = new FollowedRun(this);
    this.shownLearning = null; // the training or the followed run whose curves are shown, or null
    const settle = () => {
      this.selection.settle();
      changed();
    };
    this.agents = new Agents({ source, training: this.training, changed: settle });
    this.settings = new Settings();
    this.statistics = new Statistics(changed);
    this.grades = new Grades(this);
    this.ready = Promise.resolve(); // the list of agents has arrived
    this.rules = rulesOf(GAMES[0]);
    this.selection = new Selection(this);
    this.comparison = new Comparison(this);
    this.shown = new Shown(this);
    this.show = new Show(this);
    this.play = new Play(this);
    this.isChanging = false;
    this.hash = location.hash; // the address that the page has read or shown
  }

  // Render the page once, after all changes of this moment.
  changed() {
    if (this.isChanging) return;
    this.isChanging = true;
    queueMicrotask(() => {
      this.isChanging = false;
      // The page says of these agents how strong they are.
      const agents = [this.selection.loaded, this.play.opponent.loaded];
      this.grades.checkNext(agents.filter((agent) => agent !== null));
      this.render();
    });
  }

  // Open the game of the address, or the last one. A game without a link is there before
  // the list of agents.
  async start() {
    this.ready = this.agents.refresh().catch((error) => say(error.message));
    const { hash } = location;
    const hasLink = hash.length > 1;
    if (hasLink) await this.ready;
    const envId = this.settings.page.game;
    if (!this.openLinkOf(hash)) {
      this.openGame(Rules.knows(envId) ? envId : GAMES[0]);
      if (hasLink && !isTabAlone(hash)) say(NO_GAME);
    }
    await this.ready;
    this.selection.load();
    if (!this.source.live) return;
    whenIdle(() => this.prepareForEnd());
    setInterval(() => this.lookForRuns(), LOOK_EVERY);
  }

  // Load what the page needs to play on after its server has ended.
  prepareForEnd() {
    this.engine.start();
    this.agents.prefetch();
  }

  // The games that the page offers: its own, the agents' games, and the open game.
  games() {
    const envIds = [...GAMES, ...this.agents.list.map((entry) => entry.env_id), this.rules.envId];
    return [...new Set(envIds.filter((envId) => Rules.knows(envId)).map(rulesOf))];
  }

  // Open a game by its button. Another game is another entry of the browser's history.
  chooseGame(envId) {
    if (envId !== this.rules.envId) history.pushState(ENTRY, "");
    this.openGame(envId);
  }

  // Open another game: a link's game, the game that this tab left, or a new one.
  openGame(envId, link = null) {
    this.play.game.stop();
    if (envId !== this.rules.envId) this.selection.loaded = null;
    this.rules = rulesOf(envId);
    this.settings.setPage({ game: envId });
    this.selection.update = null;
    this.play.open(link);
    this.selection.load();
    if (this.play.game.moves.length > 0 || this.play.analysis) this.leaveInvitation();
    this.show.begin();
  }

  // What learns, or has learned, and is on the board before the person moves; null without one.
  get learningOnBoard() {
    if (this.play.game.hasBegun) return null;
    const all = [this.training, this.followed];
    return all.find((one) => one.state !== "idle" && one.isOnBoard) ?? null;
  }

  // Whether the page shows the first screen, which invites to play.
  get isInviting() {
    return this.settings.panel === null;
  }

  // Show the tab "Game" in place of the first screen.
  leaveInvitation() {
    if (this.isInviting) this.openPanel(openingOf("game"));
  }

  // Train a table of tic-tac-toe here, with the board in view.
  watchOneLearn() {
    this.openPanel("learning");
    this.training.watchOne();
    this.reveal();
  }

  // See which runs are in training, while the tab that offers to watch them is open.
  lookForRuns() {
    const isOpen = this.settings.panel === "learning" && !document.hidden;
    if (isOpen) this.agents.refresh().catch(() => {}); // without an answer, the list stays
  }

  // Show the curves of the training, of the followed run, or, by null, of the selected agent.
  showLearning(learning) {
    this.shownLearning = learning;
    this.changed();
  }

  openPanel(panel) {
    const wasInviting = this.isInviting;
    this.settings.panel = panel;
    this.show.end();
    if (wasInviting && this.play.isReplaceable) this.play.newGame();
    this.lookForRuns();
    this.showAddress();
    this.changed();
  }

  // ---- the address

  // Open the game and the tab of an address. Returns whether it names a game.
  openLinkOf(hash) {
    const link = fromHash(hash);
    if (link || isTabAlone(hash)) this.openTabOf(hash);
    // An address of the first screen itself, which is loaded again, stays there.
    if (link && history.state !== ENTRY) this.leaveInvitation();
    if (link) this.openGame(link.envId, link);
    return link !== null;
  }

  openTabOf(hash) {
    const tab = tabOf(hash);
    if (tab !== null && tabWith(tab) !== null) this.openPanel(openingOf(tab));
  }

  // Follow a change of the address. After Back or Forward to another game, that game goes on
  // as it was left; a link shows its position.
  followAddress() {
    const { hash } = location;
    this.hash = hash;
    const link = fromHash(hash);
    const isReturn = history.state === ENTRY && link && link.envId !== this.rules.envId;
    if (!isReturn) {
      this.openLinkOf(hash);
      return;
    }
    this.openTabOf(hash);
    this.openGame(link.envId);
  }

  // Show the link of the game and the tab as the address. It replaces the one before, so
  // moves and tabs are not entries of the browser's history.
  showAddress() {
    const { address } = this.play;
    if (address === null) return; // no game is open yet
    if (location.hash !== this.hash) return; // another address, which is followed next
    const hash = toHash({ ...address, tab: this.settings.panel });
    const isShown = location.hash === hash && history.state === ENTRY;
    if (!isShown) history.replaceState(ENTRY, "", hash);
    this.hash = location.hash;
  }
}
