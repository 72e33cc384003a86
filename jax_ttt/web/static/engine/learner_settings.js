// The learners of tic-tac-toe that a page trains without a server, as in web/sliders.py.

// The settings that the learners share: those of `Config` in config/settings.py.
const SHARED = {
  env_id: "tic_tac_toe",
  num_envs: 256,
  num_updates: 1000,
  lockstep: false,
  start_share: 0,
  start_positions: "counterexamples",
  start_agent: "none",
  opponent: "self",
  seat: "both",
  network: "mlp",
  canonical: true,
  hidden_size: 128,
  hidden_layers: 2,
  two_planes: false,
  filters: 0,
  activation: "relu",
  table_key: "position",
  initial_value: 0,
  backup: "two-ply",
  tremble: 0.5,
  gamma: 1,
  double: false,
  backward: false,
  tau: 0.05,
  target_update_every: 0,
  reward_win: 1,
  reward_draw: 0,
  reward_loss: -1,
  epsilon_start: 1,
  epsilon_end: 0.5,
  epsilon_schedule: "linear",
  epsilon_decay: 0.1,
  random_opening: 0,
  optimizer: "adamw",
  loss: "huber",
  learning_rate: 0.004,
  learning_rate_end: 0,
  learning_rate_decay: 1,
  weight_decay: 0,
  average_span: 0,
  precision: "auto",
  replay_capacity: 0,
  replay_batch: 256,
  replay_start: 1000,
  eval_every: 100,
  max_positions: 2000000,
};

// The ranges of the sliders.
function slidersWith(learningRates) {
  return { learning_rate: learningRates, gamma: [0.5, 1], epsilon: [0, 1] };
}

// By name: the learner in words; `config`, the settings; `seconds`, the length of a training
// that can be watched, if the machine is fast enough; and the [lowest, highest] value of each
// slider.
export const LEARNERS = {
  table: {
    title: "Table",
    help: "A table keeps one value for each position of tic-tac-toe.",
    config: {
      ...SHARED,
      num_updates: 400,
      network: "table",
      tremble: 0.7,
      tau: 1,
      optimizer: "sgd",
      loss: "mse",
      learning_rate: 1,
      learning_rate_end: 1,
      eval_every: 10,
    },
    seconds: 10,
    sliders: slidersWith([0.01, 1]),
  },
  network: {
    title: "Network",
    help:
      "A network computes the value of each move from the board, so what it learns in one " +
      "position changes its values in others.",
    config: {
      ...SHARED,
      num_envs: 128,
      num_updates: 1800,
      gamma: 0.85,
      tau: 0.12,
      epsilon_end: 0.1,
      learning_rate: 0.006,
      learning_rate_end: 0.002,
      average_span: 0.15,
      eval_every: 50,
    },
    seconds: 20,
    sliders: slidersWith([1e-4, 0.1]),
  },
};

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
