// What the page's workers answer, for test_workers.py.

import { Rules } from "./engine/rules.js";
import { readAgent } from "./files/agent_file.js";
import { Engine } from "./state/engine.js";

const load = async (name) => (await fetch(`/static/${name}`)).arrayBuffer();
const agentOf = async (key) => ({ key, file: await readAgent(await load(`${key}.safetensors`)) });
const nameOf = (error) => error.name;
const messageOf = (error) => error.message;

export async function askWorkers() {
  const engine = new Engine({
    tree: async () => JSON.parse(new TextDecoder().decode(await load("tic_tac_toe.json"))),
    worker: "/static/worker.js",
  });
  const { envId, start: position } = new Rules("tic_tac_toe");
  const [network, table] = [await agentOf("network"), await agentOf("table")];
  const said = { answers: [], moves: [], otherGame: [] };
  for (const agent of [network, table, network]) {
    const { values, move } = await engine.values({ envId, agent, position });
    said.answers.push([[...values], move]);
  }
  // Exact results.
  said.exact = await engine.exact({ envId, position });
  const big = new Rules("connect_7x6");
  const hard = { envId: big.envId, position: big.start, seconds: 0.1 };
  said.notInTime = await engine.exact(hard);
  const running = engine.exact(hard);
  const replaced = engine.exact({ ...hard, latest: true });
  const latest = engine.exact({ envId, position, latest: true });
  said.replaced = await replaced.catch(nameOf);
  said.running = await running;
  said.latest = (await latest).value;
  // A grade.
  said.seen = 0;
  const onProgress = ({ positions }) => (said.seen = positions);
  said.grade = await engine.grade({ envId, agent: table, onProgress });
  const stop = () => engine.stopGrade();
  const stopped = engine.grade({ envId, agent: table, onProgress: stop });
  said.stopped = await stopped.catch(messageOf);
  // More agents than a worker has at once; the first one is posted again.
  for (const number of [0, 1, 2, 3, 4, 5, 6, 7, 0, 7, 1]) {
    const agent = { ...network, key: `network ${number}` };
    said.moves.push((await engine.values({ envId, agent, position })).move);
  }
  const { sent } = engine.clients.values;
  said.sent = [...sent];
  sent.add("network 2"); // as if the worker still had it
  const forgotten = { ...network, key: "network 2" };
  said.forgotten = await engine.values({ envId, agent: forgotten, position }).catch(nameOf);
  const other = { key: "other", file: { ...network.file, envId: big.envId } };
  for (let call = 0; call < 2; call += 1) {
    const answer = engine.values({ envId, agent: other, position });
    said.otherGame.push(await answer.catch(messageOf));
  }
  return said;
}
