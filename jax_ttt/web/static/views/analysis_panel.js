// The tools of an analysis: who moves, and a position that is set up.

import { LETTERS } from "../engine/rules.js";
import { html } from "../vendor/preact.js";
import { Button, Radios } from "./ui.js";

function MoverChoice({ analysis, side }) {
  const id = `mover-${side}`;
  const options = analysis.choices.map(
    ([mover, title]) =>
      html`<option key=${mover} value=${mover} selected=${mover === analysis.movers[side]}>
        ${title}
      </option>`,
  );
  return html`
    <div class="field">
      <label for=${id}>${LETTERS[side]} is moved by</label>
      <select id=${id} onChange=${(event) => analysis.setMover(side, event.target.value)}>
        ${options}
      </select>
    </div>
  `;
}

function Match({ analysis }) {
  return html`
    <fieldset disabled=${analysis.setup !== null}>
      <legend>Let agents play</legend>
      <${MoverChoice} analysis=${analysis} side="x" />
      <${MoverChoice} analysis=${analysis} side="o" />
      <div class="bar">
        <${Button} isDisabled=${!analysis.canPlay} onClick=${() => analysis.beginMatch()}>
          Play the match
        <//>
        <${Button} isDisabled=${!analysis.isMatch} onClick=${() => analysis.stop()}>Stop<//>
      </div>
    </fieldset>
  `;
}

// The tools of a position that is being set up. They stand beside the board.
export function SetupTools({ analysis }) {
  const { rules, setup } = analysis;
  const tools = [
    ["x", LETTERS.x],
    ["o", LETTERS.o],
    ["remove", "Remove"],
  ];
  const use = (tool) => {
    setup.tool = tool;
  };
  const { error, position } = setup.result;
  const mover = position && rules.toMove(position);
  const next = mover ? `${LETTERS[mover]} is to move.` : "The game is over here.";
  return html`
    <${Radios}
      name="tool"
      legend="Click to place"
      options=${tools}
      value=${setup.tool}
      onChange=${use}
    />
    <p class="note">${error ?? next}</p>
    <div class="bar">
      <button
        type="button"
        class="primary"
        disabled=${Boolean(error)}
        onClick=${() => analysis.endSetup()}
      >
        Analyse this position
      </button>
      <button type="button" onClick=${() => setup.clear()}>Empty the board</button>
      <button type="button" onClick=${() => analysis.cancelSetup()}>Cancel</button>
    </div>
  `;
}

export function AnalysisTools({ analysis }) {
  return html`
    <p class="note">
      You move both sides, unless you let agents play. Games of an analysis are not counted.
    </p>
    <${Match} analysis=${analysis} />
    <div class="bar">
      <${Button}
        isDisabled=${analysis.setup !== null}
        onClick=${() => analysis.beginSetup()}
      >
        Set up a position
      <//>
    </div>
  `;
}
