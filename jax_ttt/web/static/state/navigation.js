// The games and the address of the page: it opens games, follows links, and shows the link of the
// game and the tab as the address.

import { Rules, rulesOf } from "../engine/rules.js";
import { batch, effect } from "../vendor/preact.js";
import { fromHash, isTabAlone, tabOf, toHash } from "./links.js";
import { say } from "./messages.js";
import { GAMES, openingOf, tabWith } from "./settings.js";

const NO_GAME = "The page does not have the game of this link.";
const ENTRY = "jax_ttt"; // the state of the history entries that this page has shown
const LOOK_EVERY = 5000; // milliseconds

// Call a function when the browser has nothing else to do, soon at the latest.
function whenIdle(call) {
  if (globalThis.requestIdleCallback) requestIdleCallback(call, { timeout: 2000 });
  else setTimeout(call);
}

export class Navigation {
  source; settings; engine; agents; play;

  constructor({ source, settings, engine, agents, play }) {
    Object.assign(this, { source, settings, engine, agents, play });
    this.hash = location.hash; // the address that the page has read or shown
    effect(() => this.showAddress());
    effect(() => this.lookForRuns());
  }

  // Open the game of the address, or the last one. A game without a link is open before
  // the list of agents is there.
  async start() {
    const { agents, settings } = this;
    agents.ready = agents.refresh().catch((error) => say(error.message));
    const { hash } = location;
    const hasLink = hash.length > 1;
    if (hasLink) await agents.ready;
    if (!this.openLinkOf(hash)) {
      this.play.open(settings.rules.envId);
      if (hasLink && !isTabAlone(hash)) say(NO_GAME);
    }
    if (!this.source.live) return;
    agents.ready.then(() => whenIdle(() => this.prepareForEnd()));
    setInterval(() => this.lookForRuns(), LOOK_EVERY);
  }

  // Load what the page needs to play on after its server has ended.
  prepareForEnd() {
    this.engine.start();
    this.agents.prefetch();
  }

  // The games that the page offers: its own, the agents' games, and the open game.
  get games() {
    const { agents, settings } = this;
    const ofAgents = agents.list.map((entry) => entry.env_id);
    const envIds = [...GAMES, ...ofAgents, settings.rules.envId];
    return [...new Set(envIds.filter((envId) => Rules.knows(envId)).map(rulesOf))];
  }

  // Open a game by its button. Another game is another entry of the browser's history.
  openGame(envId) {
    if (envId !== this.settings.rules.envId) history.pushState(ENTRY, "");
    this.play.open(envId);
  }

  // See which runs are in training, while the tab that offers to watch them is open.
  lookForRuns() {
    const isOpen = this.settings.panel === "learning" && !document.hidden;
    if (isOpen) this.agents.refresh().catch(() => {}); // without an answer, the list stays
  }

  // ---- the address

  // Open the game and the tab of an address. Returns whether it names a game.
  openLinkOf(hash) {
    const link = fromHash(hash);
    batch(() => {
      if (link || isTabAlone(hash)) this.openTabOf(hash);
      // An address of the first screen itself, which is loaded again, stays there.
      if (link && history.state !== ENTRY) this.play.leaveInvitation();
      if (link) this.play.open(link.envId, link);
    });
    return link !== null;
  }

  openTabOf(hash) {
    const tab = tabOf(hash);
    if (tab !== null && tabWith(tab) !== null) this.play.openPanel(openingOf(tab));
  }

  // Follow a change of the address. After Back or Forward to another game, that game goes on
  // as it was left; a link shows its position.
  followAddress() {
    const { hash } = location;
    this.hash = hash;
    const link = fromHash(hash);
    const isReturn =
      history.state === ENTRY && link && link.envId !== this.settings.rules.envId;
    if (!isReturn) {
      this.openLinkOf(hash);
      return;
    }
    batch(() => {
      this.openTabOf(hash);
      this.play.open(link.envId);
    });
  }

  // Show the link of the game and the tab as the address. It replaces the one before, so
  // moves and tabs are not entries of the browser's history.
  showAddress() {
    const { address } = this.play;
    const tab = this.settings.panel;
    if (address === null) return;
    if (location.hash !== this.hash) return; // another address, which is followed next
    const hash = toHash({ ...address, tab });
    const isShown = location.hash === hash && history.state === ENTRY;
    if (!isShown) history.replaceState(ENTRY, "", hash);
    this.hash = location.hash;
  }
}
