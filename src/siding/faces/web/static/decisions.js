// Answering questions, one by one or all at once, also with the keyboard alone. Choices survive a
// reload of the page.

import { forgetCode, say } from "./codes.js";

let form = null;
let at = 0;

export function decisions(root) {
  const found = root.querySelector("form[data-decision]:not([data-ready])");
  if (!found) {
    if (!root.querySelector("form[data-decision]")) form = null;
    return;
  }
  form = found;
  form.dataset.ready = "";
  at = 0;
  restore();
  arrange(localStorage.getItem("siding.items") ?? "one");
  form.addEventListener("input", (event) => {
    if (event.target.name === "code") return;
    forgetCode(form);
    remember();
    progress();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
}

const items = () => [...form.querySelectorAll("[data-item]")];
const slot = () => `siding.draft.${form.dataset.decision}`;

function remember() {
  const kept = {};
  for (const field of form.elements) {
    if (!field.name || field.name === "code") continue;
    if (field.type === "radio" || field.type === "checkbox") {
      if (field.checked) (kept[field.name] ??= []).push(field.value);
    } else if (field.value) {
      kept[field.name] = field.value;
    }
  }
  sessionStorage.setItem(slot(), JSON.stringify(kept));
}

function restore() {
  const kept = JSON.parse(sessionStorage.getItem(slot()) ?? "null");
  if (!kept) return;
  for (const field of form.elements) {
    if (!field.name || field.name === "code") continue;
    const value = kept[field.name];
    if (field.type === "radio" || field.type === "checkbox") field.checked = Boolean(value?.includes(field.value));
    else field.value = value ?? "";
  }
}

function answerOf(item) {
  const { item: id, kind } = item.dataset;
  const note = form.elements[`note-${id}`].value.trim();
  const answer = { id: Number(id), ...(note ? { note } : {}) };
  if (kind === "text") return { ...answer, chosen: form.elements[`text-${id}`].value };
  const chosen = [...item.querySelectorAll(`[name="item-${CSS.escape(id)}"]:checked`)].map((each) => each.value);
  return { ...answer, chosen: kind === "multiple" ? chosen : (chosen[0] ?? "") };
}

function isAnswered(item) {
  const { chosen } = answerOf(item);
  if (item.dataset.kind !== "multiple") return Boolean(chosen.trim());
  return chosen.length >= Number(item.dataset.least) && chosen.length <= Number(item.dataset.most);
}

function arrange(how) {
  const all = items();
  const single = how === "one" && all.length > 1;
  all.forEach((item, number) => (item.hidden = single && number !== at));
  form.classList.toggle("one", single);
  for (const button of document.querySelectorAll("button[data-items]")) {
    button.setAttribute("aria-pressed", String(button.dataset.items === how));
  }
  for (const button of form.querySelectorAll("[data-items-step]")) {
    const by = Number(button.dataset.itemsStep);
    button.hidden = !single;
    button.disabled = at + by < 0 || at + by >= all.length;
  }
  localStorage.setItem("siding.items", how);
  progress();
}

function progress() {
  const all = items();
  const done = all.filter(isAnswered).length;
  form.querySelector("#progress").textContent = all.length > 1 ? `${done} of ${all.length} answered` : "";
}

function move(by) {
  const all = items();
  at = Math.min(all.length - 1, Math.max(0, at + by));
  arrange(form.classList.contains("one") ? "one" : "all");
  all[at].focus();
}

async function send() {
  const all = items();
  const missing = all.findIndex((item) => !isAnswered(item));
  const complaint = form.querySelector(".complaint");
  complaint.textContent = "";
  if (missing >= 0) {
    at = missing;
    arrange(form.classList.contains("one") ? "one" : "all");
    all[missing].focus();
    complaint.textContent = `Question ${missing + 1} is not answered yet.`;
    return;
  }
  const button = form.querySelector("button.primary");
  button.disabled = true;
  try {
    const address = `/api/v1/decisions/${form.dataset.decision}`;
    const body = { decisions: all.map(answerOf) };
    const asked = { act: "answer", ...body };
    const needsCode = Boolean(form.dataset.gate);
    const sent = await say(form, { code: `${address}/code`, send: `${address}/answer`, body, asked, needsCode });
    if (sent === null) {
      button.disabled = false;
      return;
    }
    sessionStorage.removeItem(slot());
    dispatchEvent(new CustomEvent("siding:answered"));
  } catch (error) {
    button.disabled = false;
    complaint.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    if (error.code === "already_closed") dispatchEvent(new CustomEvent("siding:answered"));
  }
}

/** Cancel the question; the agent that asked is told that there is no answer. */
async function cancel(given) {
  const complaint = given.querySelector(".complaint");
  const button = given.querySelector("button.submit");
  complaint.textContent = "";
  button.disabled = true;
  try {
    const address = given.dataset.cancel;
    const asked = { act: "cancel" };
    const sent = await say(given, { code: `${address}/code`, send: `${address}/cancel`, body: {}, asked });
    if (sent !== null) dispatchEvent(new CustomEvent("siding:answered"));
  } catch (error) {
    complaint.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    if (error.code === "already_closed") dispatchEvent(new CustomEvent("siding:answered"));
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  if (event.target.dataset.cancel === undefined) return;
  event.preventDefault();
  cancel(event.target);
});

/** Choose an option of the question that is shown, or that has the focus. */
function choose(number) {
  const all = items();
  const item = document.activeElement?.closest("[data-item]") ?? all.find((each) => !each.hidden && !isAnswered(each)) ?? all[at];
  const field = item.querySelectorAll("fieldset input")[number - 1];
  field?.click();
  field?.focus();
}

document.addEventListener("click", (event) => {
  if (!form) return;
  const chooser = event.target.closest("button[data-items]");
  if (chooser) arrange(chooser.dataset.items);
  const step = event.target.closest("[data-items-step]");
  if (step) move(Number(step.dataset.itemsStep));
  const suggestion = event.target.closest("[data-suggest]");
  if (suggestion) {
    const field = form.elements[suggestion.dataset.suggest];
    field.value = suggestion.dataset.text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }
});

document.addEventListener("keydown", (event) => {
  if (!form?.isConnected || event.altKey) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, dialog")) return;
  if (/^[1-9]$/.test(event.key)) choose(Number(event.key));
  else if (event.key === "ArrowRight" && form.classList.contains("one")) event.preventDefault(), move(1);
  else if (event.key === "ArrowLeft" && form.classList.contains("one")) event.preventDefault(), move(-1);
});
