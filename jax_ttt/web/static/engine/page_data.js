// Made by `make schema` from config/, where the meanings stand: don't edit.

export const DATA = {
  "games": {
    "tic_tac_toe": {
      "title": "Tic-tac-toe",
      "rows": 3,
      "columns": 3,
      "inARow": 3,
      "falls": false,
      "isEnumerable": true,
      "bestResult": "draw"
    },
    "connect_4x4": {
      "title": "Connect Four 4 × 4",
      "rows": 4,
      "columns": 4,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "draw"
    },
    "connect_5x4": {
      "title": "Connect Four 5 × 4",
      "rows": 4,
      "columns": 5,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "draw"
    },
    "connect_4x5": {
      "title": "Connect Four 4 × 5",
      "rows": 5,
      "columns": 4,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "draw"
    },
    "connect_5x5": {
      "title": "Connect Four 5 × 5",
      "rows": 5,
      "columns": 5,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "draw"
    },
    "connect_6x5": {
      "title": "Connect Four 6 × 5",
      "rows": 5,
      "columns": 6,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "draw"
    },
    "connect_6x6": {
      "title": "Connect Four 6 × 6",
      "rows": 6,
      "columns": 6,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "second"
    },
    "connect_7x6": {
      "title": "Connect Four 7 × 6",
      "rows": 6,
      "columns": 7,
      "inARow": 4,
      "falls": true,
      "isEnumerable": false,
      "bestResult": "first"
    },
    "mnk_4x4_4": {
      "title": "4 × 4, four in a row",
      "rows": 4,
      "columns": 4,
      "inARow": 4,
      "falls": false,
      "isEnumerable": false,
      "bestResult": null
    }
  },
  "levels": {
    "beginner": {
      "name": "Beginner",
      "randomShare": 0.7,
      "text": "70% random moves, else the learned agent's"
    },
    "casual": {
      "name": "Casual",
      "randomShare": 0.35,
      "text": "35% random moves, else the learned agent's"
    },
    "strong": {
      "name": "Strong",
      "randomShare": 0.1,
      "text": "10% random moves, else the learned agent's"
    },
    "full": {
      "name": "Full strength",
      "randomShare": 0.0,
      "text": "the learned agent without random moves"
    },
    "expert": {
      "name": "Expert (perfect play)",
      "randomShare": 0.0,
      "text": "exact play, where the game is solved"
    }
  },
  "sliders": {
    "learning_rate": {
      "name": "Learning rate",
      "help": "How far each update moves the values. High learns fast but forgets; low is slow."
    },
    "gamma": {
      "name": "Discount",
      "help": "How much a later result counts. Below 1, a quick win is worth more than a slow one."
    },
    "epsilon": {
      "name": "Exploration",
      "help": "The share of random moves in self-play, so that it finds what it does not know."
    }
  },
  "learners": {
    "table": {
      "title": "Table",
      "help": "A table keeps one value for each position of tic-tac-toe.",
      "config": {
        "env_id": "tic_tac_toe",
        "num_envs": 256,
        "num_updates": 400,
        "lockstep": false,
        "start_share": 0.0,
        "start_positions": "counterexamples",
        "start_agent": "none",
        "opponent": "self",
        "seat": "both",
        "network": "table",
        "canonical": true,
        "hidden_size": 128,
        "hidden_layers": 2,
        "two_planes": false,
        "filters": 0,
        "activation": "relu",
        "table_key": "position",
        "initial_value": 0.0,
        "backup": "two-ply",
        "tremble": 0.7,
        "gamma": 1.0,
        "double": false,
        "backward": false,
        "tau": 1.0,
        "target_update_every": 0,
        "reward_win": 1.0,
        "reward_draw": 0.0,
        "reward_loss": -1.0,
        "epsilon_start": 1.0,
        "epsilon_end": 0.5,
        "epsilon_schedule": "linear",
        "epsilon_decay": 0.1,
        "random_opening": 0,
        "optimizer": "sgd",
        "loss": "mse",
        "learning_rate": 1.0,
        "learning_rate_end": 1.0,
        "learning_rate_decay": 1.0,
        "weight_decay": 0.0,
        "average_span": 0.0,
        "precision": "auto",
        "replay_capacity": 0,
        "replay_batch": 256,
        "replay_start": 1000,
        "eval_every": 10,
        "max_positions": 2000000
      },
      "seconds": 10,
      "sliders": {
        "learning_rate": [
          0.01,
          1.0
        ],
        "gamma": [
          0.5,
          1.0
        ],
        "epsilon": [
          0.0,
          1.0
        ]
      }
    },
    "network": {
      "title": "Network",
      "help": "A network computes the value of each move from the board, so what it learns in one position changes its values in others.",
      "config": {
        "env_id": "tic_tac_toe",
        "num_envs": 128,
        "num_updates": 1800,
        "lockstep": false,
        "start_share": 0.0,
        "start_positions": "counterexamples",
        "start_agent": "none",
        "opponent": "self",
        "seat": "both",
        "network": "mlp",
        "canonical": true,
        "hidden_size": 128,
        "hidden_layers": 2,
        "two_planes": false,
        "filters": 0,
        "activation": "relu",
        "table_key": "position",
        "initial_value": 0.0,
        "backup": "two-ply",
        "tremble": 0.5,
        "gamma": 0.85,
        "double": false,
        "backward": false,
        "tau": 0.12,
        "target_update_every": 0,
        "reward_win": 1.0,
        "reward_draw": 0.0,
        "reward_loss": -1.0,
        "epsilon_start": 1.0,
        "epsilon_end": 0.1,
        "epsilon_schedule": "linear",
        "epsilon_decay": 0.1,
        "random_opening": 0,
        "optimizer": "adamw",
        "loss": "huber",
        "learning_rate": 0.006,
        "learning_rate_end": 0.002,
        "learning_rate_decay": 1.0,
        "weight_decay": 0.0,
        "average_span": 0.15,
        "precision": "auto",
        "replay_capacity": 0,
        "replay_batch": 256,
        "replay_start": 1000,
        "eval_every": 50,
        "max_positions": 2000000
      },
      "seconds": 20,
      "sliders": {
        "learning_rate": [
          0.0001,
          0.1
        ],
        "gamma": [
          0.5,
          1.0
        ],
        "epsilon": [
          0.0,
          1.0
        ]
      }
    }
  }
};
