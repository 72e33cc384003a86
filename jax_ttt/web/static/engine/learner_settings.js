// The learners of tic-tac-toe that the page trains. By name: the learner in words; `config`, the
// settings; `seconds`, the length of a training that can be watched, if the machine is fast
// enough; and the [lowest, highest] value of each slider.

import { DATA } from "./page_data.js";

export const LEARNERS = DATA.learners;

// The settings that a slider changes: the start and the end of a schedule.
const FIELDS = {
  learning_rate: ["learning_rate", "learning_rate_end"],
  gamma: ["gamma"],
  epsilon: ["epsilon_start", "epsilon_end"],
};

// The value of a learner's slider before it is moved.
export function startOf(learner, slider) {
  return LEARNERS[learner].config[FIELDS[slider][0]];
}

// The settings of a learner with moved sliders: a moved slider ends the schedule.
export function configWith(learner, moved) {
  const config = { ...LEARNERS[learner].config };
  for (const [name, value] of Object.entries(moved)) {
    for (const field of FIELDS[name]) config[field] = value;
  }
  return config;
}

// Throws an Error unless these are sliders of the learner with values in their ranges; null
// stands for the schedule.
export function checkMoved(learner, moved) {
  const { sliders } = LEARNERS[learner];
  for (const [name, value] of Object.entries(moved)) {
    if (!Object.hasOwn(sliders, name)) throw new Error(`there is no slider ${name}`);
    const [low, high] = sliders[name];
    const isInside = typeof value === "number" && value >= low && value <= high;
    if (value !== null && !isInside) throw new Error(`${name} must be ${low} to ${high}`);
  }
}
