// A slider of live training, with its tooltip.

import { button, html, setText } from "page/dom";

const TEXTS = {
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

export const SLIDERS = Object.keys(TEXTS);

// A slider that takes effect at once; a logarithmic one where its range is wide.
export class Slider {
  constructor(name, onChange) {
    const { name: label, help } = TEXTS[name];
    this.name = name;
    this.range = null; // { min, max }
    this.input = html("input", {
      type: "range",
      id: name,
      min: 0,
      max: 1000,
      "aria-describedby": `${name}-help`,
      on: {
        input: () => this.told(this.value),
        change: () => onChange({ [name]: this.value }),
      },
    });
    this.label = html("output", { class: "value", for: name });
    const tip = html("span", { class: "tip", id: `${name}-help`, role: "tooltip", text: help });
    const ask = button("?", () => {}, { class: "help", "aria-label": `About: ${label}` });
    ask.setAttribute("aria-describedby", `${name}-help`);
    this.element = html(
      "div",
      { class: "slider" },
      html("span", { class: "named" }, html("label", { for: name, text: label }), ask, tip),
      this.label,
      this.input,
    );
  }

  get isWide() {
    return this.range.min > 0 && this.range.max / this.range.min > 50;
  }

  get value() {
    const { min, max } = this.range;
    const share = Number(this.input.value) / 1000;
    const found = this.isWide ? min * (max / min) ** share : min + (max - min) * share;
    return Math.min(Math.max(Number(found.toPrecision(3)), min), max);
  }

  told(value) {
    const text = String(Number(value.toPrecision(3)));
    setText(this.label, text);
    this.input.setAttribute("aria-valuetext", text);
  }

  show(setting) {
    const { min, max, value } = setting;
    this.range = { min, max };
    if (document.activeElement === this.input && this.input.matches(":active")) return;
    const share = this.isWide
      ? Math.log(value / min) / Math.log(max / min)
      : (value - min) / (max - min);
    this.input.value = Math.round(1000 * Math.min(Math.max(share, 0), 1));
    this.told(value);
  }
}
