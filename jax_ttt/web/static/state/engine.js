// Calls of the computing part of the page: each kind of task has a Web Worker of its own,
// so that a move never waits for a proof. All results are promises.

const MAX_AGENTS = 6; // agents in a worker's memory: a training makes one after another

// A worker that answers each request by its number. The first request starts it.
class Client {
  constructor(address) {
    this.address = address;
    this.sent = new Set(); // keys of the agents that the worker has, the one used last at the end
    this.waiting = new Map(); // number of a request -> { resolve, reject, onProgress }
    this.number = 0;
    this.worker = null;
  }

  start() {
    if (this.worker) return;
    this.worker = new Worker(this.address, { type: "module" });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.stop(new Error(`the computing part of the page failed: ${event.message ?? ""}`));
    };
  }

  receive({ number, result, error, progress }) {
    const request = this.waiting.get(number);
    if (!request) return;
    if (progress) {
      request.onProgress?.(progress);
      return;
    }
    this.waiting.delete(number);
    if (error) request.reject(new Error(error));
    else request.resolve(result);
  }

  // Post a task. `agent` is null or { key, file }, with the file as `readAgent` returns it.
  request(task, agent, rows, onProgress) {
    this.start();
    this.number += 1;
    const message = { number: this.number, task, ...(agent && this.agentPart(agent, rows)) };
    return new Promise((resolve, reject) => {
      this.waiting.set(this.number, { resolve, reject, onProgress });
      this.worker.postMessage(message);
    });
  }

  // The agent's part of a message: its file unless the worker has it, and the key of an
  // agent for the worker to forget.
  agentPart({ key, file }, rows) {
    if (this.sent.delete(key)) {
      this.sent.add(key);
      return { key };
    }
    this.sent.add(key);
    if (this.sent.size <= MAX_AGENTS) return { key, file, rows };
    const [forget] = this.sent;
    this.sent.delete(forget);
    return { key, file, rows, forget };
  }

  // End the worker; the next request starts another one.
  stop(error) {
    this.worker?.terminate();
    this.worker = null;
    this.sent.clear();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

export class Engine {
  // Takes two fields of a source, see source.js: `tree` returns a promise of the data of
  // tic_tac_toe.json, which is needed for the rows of tables; `worker` is an address.
  constructor({ tree, worker }) {
    this.tree = tree;
    const names = ["values", "exact", "grade", "lines", "learn"];
    this.clients = Object.fromEntries(names.map((name) => [name, new Client(worker)]));
    // Exact tasks that have not begun: those in their order, and the one of `latest`.
    this.exacts = [];
    this.latestExact = null;
    this.isSolving = false;
  }

  // Start the workers, so that they answer after the page's server has ended.
  start() {
    for (const client of Object.values(this.clients)) client.start();
  }

  // An agent's value of each move to its mover (NaN where illegal) after `depth` moves of
  // best play, and its move: { values, move, isCorrected (whether the move is a correction),
  // depth }. `agent` is { key, file }.
  async values({ envId, agent, position, depth = 0 }) {
    const task = { name: "values", envId, position, depth };
    return this.clients.values.request(task, agent, await this.rowsOf(agent));
  }

  // The next moves of an agent that plays both sides, at most `length`.
  async line({ envId, agent, position, depth, length }) {
    const task = { name: "line", envId, position, depth, length };
    return this.clients.values.request(task, agent, await this.rowsOf(agent));
  }

  // The result under best play, or null if it is not known in time or the game is over:
  // { value (-1, 0 or 1 to the mover), moves (to the end, 0 for a draw), best (actions:
  // the quickest wins or latest losses), actions: [{ action, value, moves }] }. Where stones
  // fall, `moves` may be null: the value is known, and the number of moves is not. Then all moves
  // with the best value are best, as far as no win or loss at once decides between them. A call
  // with `latest` is for the position on the board: it waits for all calls without it, and
  // the next such call replaces it unless it has begun. The promise of a replaced call is
  // rejected with an "AbortError".
  exact({ envId, position, seconds = 2, latest = false }) {
    return new Promise((resolve, reject) => {
      const request = { task: { name: "exact", envId, position, seconds }, resolve, reject };
      if (latest) {
        this.latestExact?.reject(new DOMException("A later position replaced it.", "AbortError"));
        this.latestExact = request;
      } else {
        this.exacts.push(request);
      }
      this.solveNext();
    });
  }

  async solveNext() {
    if (this.isSolving) return;
    const request = this.exacts.shift() ?? this.latestExact;
    if (!request) return;
    if (request === this.latestExact) this.latestExact = null;
    this.isSolving = true;
    try {
      request.resolve(await this.clients.exact.request(request.task, null, null));
    } catch (error) {
      request.reject(error);
    }
    this.isSolving = false;
    this.solveNext();
  }

  // All lines of play of an agent against every opponent: { first, second }, without a
  // seat that it did not learn. See `gradeOf` in search.js. `onProgress` gets
  // { side, positions }.
  async grade({ envId, agent, onProgress }) {
    const task = { name: "grade", envId };
    return this.clients.grade.request(task, agent, await this.rowsOf(agent), onProgress);
  }

  // Stop the proofs that are running; their promises are rejected.
  stopGrade() {
    this.clients.grade.stop(new Error("the check was stopped"));
  }

  // Train an agent of tic-tac-toe in the page: see `LEARNERS` in learner_settings.js and
  // `LearningRun`. `onStep` gets the messages of `PacedRun` in learning_run.js, more than ten
  // in a second. Resolves to the last one with the agent, at the end or when it is stopped;
  // another training stops it.
  async learn({ learner, seed, settings, onStep }) {
    const envId = "tic_tac_toe";
    const { cells } = await this.tree();
    const task = { name: "learn", envId, cells, learner, seed, settings };
    return this.clients.learn.request(task, null, null, onStep);
  }

  // Send a command to the training, if there is one: see `direct` of `PacedRun`. Resolves to
  // what it returns.
  async direct(command) {
    await this.tree(); // as the training does before it begins
    const { learn } = this.clients;
    return learn.worker && learn.request({ name: "direct", command }, null, null);
  }

  // Whether each move of a side in a game is the agent's: see `compareMoves` in agent_lines.js.
  async agentMoves({ envId, agent, moves, side }) {
    const task = { name: "agentMoves", envId, moves, side };
    return this.clients.values.request(task, agent, await this.rowsOf(agent));
  }

  // Lines of play of an agent: see `checkLines` in agent_lines.js. `onProgress` gets
  // { lines, contradiction }.
  async lines({ envId, agent, side, goal, count, onProgress }) {
    const task = { name: "lines", envId, side, goal, count };
    return this.clients.lines.request(task, agent, await this.rowsOf(agent), onProgress);
  }

  // Stop the lines that are played; their promises are rejected.
  stopLines() {
    this.clients.lines.stop(new Error("the check was stopped"));
  }

  // The positions of a table's rows; null for a network.
  async rowsOf(agent) {
    return agent.file.kind === "table" ? (await this.tree()).cells : null;
  }
}
