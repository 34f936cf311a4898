// What waits for the person: its number in the title, on the icon and beside the inbox, and a
// notification of the browser for each new entry, where the person allowed that and sees no page.
// The page is hidden then, and its stream closed: it asks from time to time. The server knows what
// was told: by another tab, on the desktop, by a webhook. What has ended is told after a while.

import { ask, inert, post } from "./door.js";

const HIDDEN_MS = 15000;
const SOON_MS = 400;

let base = "Siding"; // the title of the page without the number
let number = 0;
let known = null; // the entries that were there before; null until the first look
let soon = 0;
let due = 0;
const shown = new Map(); // the notifications of this tab, by what waits

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
  const { entries, quiet, after_s: afterS } = await answer.json();
  number = entries.length;
  titled(base);
  badge(number);
  const ids = new Set(entries.map((each) => each.id));
  for (const [id, each] of shown) if (!ids.has(id)) close(id, each);
  const early = new Set(known ? entries.filter((each) => tooEarly(each, afterS)).map((each) => each.id) : []);
  if (known) {
    entries.filter((each) => !known.has(each.id) && !early.has(each.id)).forEach((each) => quiet || call(each));
  }
  known = new Set([...ids].filter((id) => known?.has(id) || !early.has(id)));
  clearTimeout(due);
  if (early.size) due = setTimeout(look, 1000);
}

function tooEarly(entry, afterS) {
  return entry.ended && Date.now() - Date.parse(entry.since) < afterS * 1000;
}

function close(id, notification) {
  notification.close();
  shown.delete(id);
}

function badge(count) {
  const place = document.getElementById("waits");
  place.hidden = !count;
  place.textContent = count > 99 ? "99+" : String(count);
  place.setAttribute("aria-label", `${count} waiting for you`);
  const icon = document.querySelector("link[rel=icon]");
  icon.href = count ? icon.dataset.waiting : icon.dataset.calm;
}

async function call(entry) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  if (!document.hidden) return; // they see it
  const { first } = await post("/api/v1/inbox/told", { id: entry.id });
  if (!first) return;
  const words = { decision: "asks you", policy: "was blocked", failed: "failed" };
  const about = inert(entry.task_name || entry.project);
  const title = `${about} ${words[entry.kind] ?? "waits for you"}`;
  const notification = new Notification(title, { body: inert(entry.title), tag: entry.id });
  shown.set(entry.id, notification);
  notification.onclick = () => {
    focus();
    if (entry.page) location.assign(entry.page);
    close(entry.id, notification);
  };
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-call]");
  if (!button) return;
  await Notification.requestPermission();
  button.hidden = Notification.permission !== "default";
});

setInterval(() => document.hidden && look(), HIDDEN_MS);
