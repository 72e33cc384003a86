// Sliders with a label, their value in words, and perhaps a text below.

import { number } from "../state/words.js";
import { html } from "../vendor/preact.js";

// A slider over 0 to `max`: `text` is the value in words, `spoken` what a screen reader says of it.
export function Slider({ id, label, text, spoken = text, max, value, onInput, ...more }) {
  const { help = null, isDisabled = false, children = label } = more;
  return html`
    <div class="slider">
      <label for=${id}>${children}</label>
      <output for=${id}>${text}</output>
      <input
        type="range"
        id=${id}
        min="0"
        max=${max}
        value=${value}
        disabled=${isDisabled}
        aria-valuetext=${spoken}
        aria-describedby=${help && `${id}-help`}
        onInput=${(event) => onInput(Number(event.target.value))}
      />
      ${help && html`<p class="note" id=${`${id}-help`}>${help}</p>`}
    </div>
  `;
}

// A slider over the snapshots of an agent: `update` is null for its latest, as for `onChange`.
// `word` stands before the numbers of updates.
export function SnapshotSlider({ id, entry, update, onChange, help, word = "", children }) {
  const { snapshots, updates } = entry;
  const last = Math.max(snapshots.length - 1, 0);
  const text = `${number(update ?? updates)} of ${number(updates)}`;
  return html`
    <${Slider}
      id=${id}
      text=${word + text}
      spoken=${`update ${text}`}
      max=${last}
      value=${update === null ? last : snapshots.indexOf(update)}
      isDisabled=${snapshots.length < 2}
      help=${help}
      onInput=${(i) => onChange(i === last ? null : snapshots[i])}
    >
      ${children}
    <//>
  `;
}
