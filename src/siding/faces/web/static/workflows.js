// Runs of workflows: what the live stream says of one is put into its page, part by part, and a person
// ends, resumes or controls it with the code from the terminal or as a paired device.

import { say } from "./codes.js";
import { morph, piece } from "./pieces.js";
import { sayDurations, sayTimes } from "./times.js";

const SLOWLY = 400; // milliseconds; a page that is fetched whole may be long

/** Show what has changed in a run; `refresh` fetches the page anew, in a moment. */
export function heardRun(message, refresh) {
  const article = document.querySelector(`article[data-follow="${CSS.escape(message.topic)}"]`);
  if (!article) return;
  const { agent, parts, version } = article.dataset;
  if (message.version && !message.agents) {
    if (String(message.version) !== version) refresh();
  } else if (message.parts && parts !== undefined) {
    for (const part of message.parts) put(part);
    stretch(message.span);
    article.dataset.version = message.version;
    sayTimes(article);
    sayDurations(article);
  } else if (agent === undefined || message.again || message.lost || message.agents?.includes(Number(agent))) {
    refresh(SLOWLY);
  }
}

/** Put a part where the element with its id is; a new one comes last into its list, if there is room. */
function put({ html, into }) {
  const fresh = piece(html).querySelector("[id]");
  const old = document.getElementById(fresh.id);
  if (old) return morph(old, fresh);
  const list = into && document.getElementById(into);
  if (!list || list.children.length >= Number(list.dataset.room ?? Infinity)) return;
  list.append(fresh);
  if (list.nextElementSibling?.classList.contains("flow-none")) list.nextElementSibling.remove();
}

function stretch(span) {
  if (!span) return;
  for (const bars of document.querySelectorAll(".flow-bars")) {
    bars.setAttribute("viewBox", `0 0 ${span} ${bars.getAttribute("height")}`);
  }
}

async function act(form) {
  const complaint = form.querySelector(".complaint");
  const button = form.querySelector("button.submit");
  const { flow, actName, agent, said } = form.dataset;
  const body = { act: actName, ...(agent === undefined ? {} : { agent: Number(agent) }) };
  complaint.textContent = "";
  button.disabled = true;
  try {
    const done = await say(form, { code: `${flow}/code`, send: `${flow}/act`, body });
    if (!done) return;
    document.getElementById("dialog").close();
    dispatchEvent(new CustomEvent("siding:said", { detail: `${agent === undefined ? done.run : `agent #${agent}`} is ${said}` }));
  } catch (error) {
    complaint.textContent = [error.message, error.hint].filter(Boolean).join(" ");
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  if (event.target.dataset.flow === undefined) return;
  event.preventDefault();
  act(event.target);
});
