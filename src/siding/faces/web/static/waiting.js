// What waits for the person: its number in the title, on the icon and beside the inbox, and a
// notification of the browser for each new entry, where the person allowed that. The page may be
// hidden then, and its stream closed: it asks from time to time.

import { ask, inert } from "./door.js";

const KEPT = "siding-told"; // what was told already, by any tab
const MOST_KEPT = 300;
const HIDDEN_MS = 15000;
const SOON_MS = 400;

let base = "Siding"; // the title of the page without the number
let number = 0;
let known = null; // the entries that were there before; null until the first look
let soon = 0;

/** Give the document the title of its page. */
export function titled(text) {
  base = text;
  document.title = number ? `(${number}) ${base}` : base;
}

/** Look what waits, in a moment: many things happen at once. */
export function look() {
  clearTimeout(soon);
  soon = setTimeout(() => read().catch(() => {}), SOON_MS);
}

/** Offer to call in this browser, on a page that has a place for it. */
export function offer(main) {
  const button = main.querySelector("[data-call]");
  if (button) button.hidden = !("Notification" in window) || Notification.permission !== "default";
}

async function read() {
  const answer = await ask("/api/v1/inbox");
  const { entries, quiet } = await answer.json();
  number = entries.length;
  titled(base);
  badge(number);
  const names = entries.map(named);
  if (known) entries.filter((each) => !known.has(named(each))).forEach((each) => quiet || call(each));
  known = new Set(names);
}

function named(entry) {
  return [entry.kind, entry.task_id, entry.session_id, entry.step_id, entry.project_dir].join(" ");
}

function badge(count) {
  const place = document.getElementById("waits");
  place.hidden = !count;
  place.textContent = count > 99 ? "99+" : String(count);
  place.setAttribute("aria-label", `${count} waiting for you`);
  const icon = document.querySelector("link[rel=icon]");
  icon.href = count ? icon.dataset.waiting : icon.dataset.calm;
}

function call(entry) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  if (document.hasFocus() && !document.hidden) return; // they see it
  const told = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  if (told.includes(named(entry))) return;
  localStorage.setItem(KEPT, JSON.stringify([...told, named(entry)].slice(-MOST_KEPT)));
  const words = { decision: "asks you", policy: "was blocked", failed: "failed" };
  const about = inert(entry.task_name || entry.project);
  const title = `${about} ${words[entry.kind] ?? "waits for you"}`;
  const shown = new Notification(title, { body: inert(entry.title), tag: named(entry) });
  shown.onclick = () => {
    focus();
    if (entry.page) location.assign(entry.page);
    shown.close();
  };
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-call]");
  if (!button) return;
  await Notification.requestPermission();
  button.hidden = Notification.permission !== "default";
});

setInterval(() => document.hidden && look(), HIDDEN_MS);
