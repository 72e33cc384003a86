// The state of the page: its parts, each of which gets those that it needs.

import { effect } from "../vendor/preact.js";
import { Agents } from "./agents.js";
import { Comparison } from "./comparison.js";
import { Engine } from "./engine.js";
import { Grades } from "./grades.js";
import { Learn } from "./learn.js";
import { announce } from "./messages.js";
import { Navigation } from "./navigation.js";
import { Play } from "./play.js";
import { Selection } from "./selection.js";
import { SelfPlay } from "./self_play.js";
import { Settings } from "./settings.js";
import { Shown } from "./shown.js";
import { Statistics } from "./statistics.js";
import { spokenStatus, statusOf } from "./status.js";

// The parts, by their names. The page's views take from them what they show.
export function makeState(source) {
  const engine = new Engine(source);
  const settings = new Settings();
  const statistics = new Statistics();
  const agents = new Agents(source);
  const grades = new Grades({ engine, source });
  const selection = new Selection({ settings, agents });
  const play = new Play(
    { settings, agents, selection, grades, engine, statistics },
    {
      onStep: () => announce(spokenStatus(state, statusOf(state))),
      onCounted: (game) => learn.training.learnFrom(game),
    },
  );
  const shown = new Shown({ engine, settings, selection, play, grades });
  const selfPlay = new SelfPlay({ settings, agents, selection, engine });
  const navigation = new Navigation({ source, settings, engine, agents, play });
  const comparison = new Comparison({ agents, engine, play, selection, settings, shown });
  const learn = new Learn(
    { source, engine, settings, grades, agents, selection, play, shown },
    (envId) => navigation.openGame(envId),
  );
  const state = {
    source,
    settings,
    selection,
    navigation,
    agents,
    grades,
    statistics,
    play,
    shown,
    selfPlay,
    comparison,
    learn,
  };
  announceMistakes(play, shown);
  // The page says of these agents how strong they are.
  effect(() => {
    const checked = [selection.loaded, play.opponent.loaded];
    grades.checkNext(checked.filter((agent) => agent !== null));
  });
  return state;
}

// Say each mistake of the person once, when the move is judged. A mark that is there when the
// status is said is part of it.
function announceMistakes(play, shown) {
  let newest = null; // the position after the person's latest move
  let isJudged = true; // whether its mark was said, or it has none
  effect(() => {
    const { game } = play;
    const ply = game.side === null ? null : game.lastOwn;
    const position = ply === null ? null : game.positions[ply + 1];
    const mark = position && shown.marks()[ply];
    const isNew = position !== newest;
    if (isNew) [newest, isJudged] = [position, Boolean(mark) || !game.moved];
    if (isJudged || !mark) return;
    isJudged = true;
    announce(`Your move was a ${mark.text}.`);
  });
}
