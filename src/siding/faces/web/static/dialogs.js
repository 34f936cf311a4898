// Dialogs: they show what an act would do, and then do it with the code from the terminal.

import { codeFor, forgetCode } from "./codes.js";
import { ask, post } from "./door.js";
import { piece } from "./pieces.js";

const dialog = document.getElementById("dialog");
let page;
let address = "";

/** Fetch a piece of HTML and show it in the dialog. */
export async function openDialog(path) {
  address = path;
  let content;
  try {
    const answer = await ask("/view" + path, { evenBad: true });
    content = piece(await answer.text());
  } catch (error) {
    return page.say(error.message, true);
  }
  if (address !== path) return;
  dialog.replaceChildren(content);
  const title = dialog.querySelector("h1, h2");
  dialog.setAttribute("aria-label", title?.textContent ?? "Dialog");
  if (!dialog.querySelector("[data-close]")) dialog.firstElementChild?.append(closer());
  if (!dialog.open) dialog.showModal();
}

export function showInDialog(content, label) {
  address = "";
  dialog.replaceChildren(content);
  dialog.setAttribute("aria-label", label);
  if (!dialog.open) dialog.showModal();
}

function closer() {
  const button = document.createElement("button");
  button.textContent = "Close";
  button.dataset.close = "";
  return button;
}

function wishOf(form) {
  const { close, ...wish } = JSON.parse(form.dataset.wish);
  return { ...wish, stay_open: !close, message: form.elements.message?.value ?? "" };
}

async function replan(changed) {
  const form = changed.form;
  const path = new URL(address, location);
  const value = changed.type === "checkbox" ? (changed.checked ? "1" : "") : changed.value;
  if (value) path.searchParams.set(changed.dataset.replan, value);
  else path.searchParams.delete(changed.dataset.replan);
  form.inert = true;
  await openDialog(path.pathname + path.search);
}

async function submit(form) {
  const button = form.querySelector("button.primary");
  button.disabled = true;
  form.querySelector(".complaint").textContent = "";
  try {
    if (form.dataset.act) await act(form);
    else await send(form);
  } catch (error) {
    complain(form, error);
    if (error.code === "changed") await openDialog(address);
  } finally {
    button.disabled = false;
  }
}

async function act(form) {
  const body = { ...wishOf(form), digest: form.dataset.digest };
  const code = await codeFor(form, `${form.dataset.act}/code`, body);
  if (code === null) return;
  const done = await post(`${form.dataset.act}/act`, { ...body, code });
  dialog.close();
  page.say(done.step ? `${done.said} · step ${done.step}` : done.said);
  await page.refresh();
}

async function send(form) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") body[field.name] = field.checked;
    else if (field.value) body[field.name] = field.value;
  }
  const made = await post(form.dataset.form, body);
  dialog.close();
  await page.go(form.dataset.then.replace("{id}", encodeURIComponent(made.id)));
}

function complain(form, error) {
  form.querySelector(".complaint").textContent = [error.message, error.hint].filter(Boolean).join(" ");
}

export function dialogs(given) {
  page = given;
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-plan], [data-dialog]");
    if (opener) openDialog(opener.dataset.plan ?? opener.dataset.dialog);
    if (event.target.closest("[data-close]")) dialog.close();
    if (event.target === dialog) dialog.close(); // beside the box
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.target.dataset.flow === undefined) submit(event.target); // workflows.js has those
  });
  dialog.addEventListener("change", (event) => event.target.dataset.replan && replan(event.target));
  dialog.addEventListener("input", (event) => {
    if (event.target.name === "message") forgetCode(event.target.form);
  });
}
