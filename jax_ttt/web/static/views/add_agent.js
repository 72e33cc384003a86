// The control that adds an agent's file to the agents of this browser.

import { say } from "../state/messages.js";
import { FileButton } from "./ui.js";
import { html } from "../vendor/preact.js";

async function addFile(agents, file) {
  try {
    const name = file.name.replace(/\.safetensors$/, "");
    const id = await agents.keep(name, await file.arrayBuffer());
    say(`Added as "${agents.get(id).name}".`);
  } catch (error) {
    say(`${file.name} was not added: ${error.message}`);
  }
}

export function AddAgent({ agents }) {
  return html`
    <div class="bar">
      <${FileButton} accept=".safetensors" onFile=${(file) => addFile(agents, file)}>
        Add an agent's file…
      <//>
    </div>
  `;
}
