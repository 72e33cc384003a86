// The file of what this browser keeps: the person's games and agents, for another browser.

import { readAgent } from "../files/agent_file.js";
import { fromBase64, toBase64 } from "../files/storage.js";
import { BROWSER } from "./agents.js";
import { checkGames } from "./statistics.js";

const FORMAT = "jax_ttt statistics";
const VERSION = 1;
const KEPT_SOURCES = ["browser", "live"]; // of agents that the package and runs lack

// The text of the file, and the titles of agents that could not be read: { text, missing }.
export async function writeBackup({ statistics, agents }) {
  const kept = [];
  const missing = [];
  for (const { id, name, title, source } of agents.list) {
    if (!KEPT_SOURCES.includes(source)) continue;
    try {
      const { bytes, file } = await agents.load(id);
      const shown = source === "live" ? agents.nameFor(file) : name;
      kept.push({ id, name: shown, data: toBase64(bytes) });
    } catch {
      missing.push(title); // of a server that has ended
    }
  }
  const file = { format: FORMAT, version: VERSION, games: statistics.games, agents: kept };
  return { text: JSON.stringify(file), missing };
}

// Add the games and agents of a file. What is here already is not added again. Throws, and
// changes nothing, where a part of the file is not valid.
export async function readBackup({ statistics, agents }, text) {
  const file = parse(text);
  const added = [];
  try {
    for (const agent of file.agents) {
      if (!(await isHere(agents, agent))) added.push(agents.keep(agent.name, agent.bytes));
    }
  } catch (error) {
    for (const id of added) agents.remove(id);
    throw error;
  }
  statistics.add(file.games);
}

// The games and agents of a file; throws unless all of it is valid.
function parse(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  if (file?.format !== FORMAT) throw new Error("it is not a file of this page");
  if (file.version !== VERSION) {
    throw new Error(`it has version ${file.version}, and this page reads ${VERSION}`);
  }
  if (!Array.isArray(file.games) || !Array.isArray(file.agents)) {
    throw new Error("it does not have lists of games and agents");
  }
  return { games: checkGames(file.games), agents: file.agents.map(checkAgent) };
}

function checkAgent(agent) {
  const { id, name, data } = agent ?? {};
  const areTexts = [id, name, data].every((field) => typeof field === "string");
  if (!areTexts) throw new Error("an agent lacks a field");
  try {
    const bytes = fromBase64(data);
    readAgent(bytes);
    return { id, name, bytes };
  } catch (error) {
    throw new Error(`an agent could not be read: ${error.message}`, { cause: error });
  }
}

// Whether an agent of a file is here already, with the same contents.
async function isHere(agents, { id, name, bytes }) {
  const { sha256 } = readAgent(bytes);
  const alike = agents.list.filter((entry) => entry.id === id || entry.id === BROWSER + name);
  const loaded = await Promise.allSettled(alike.map((entry) => agents.load(entry.id)));
  return loaded.some((one) => one.status === "fulfilled" && one.value.key.endsWith(`#${sha256}`));
}
