// Pages: fetch them as pieces of HTML, show them, and keep them up to date with the live stream.

import { paired } from "./codes.js";
import { ask, dropKey, haveKey, inert, post, served, takeKey } from "./door.js";
import { decisions } from "./decisions.js";
import { dialogs, openDialog } from "./dialogs.js";
import { keyboard } from "./keyboard.js";
import { outputs, heardOutput } from "./output.js";
import "./runs.js";
import { patches } from "./patch.js";
import { morph, piece } from "./pieces.js";
import { follow } from "./stream.js";
import { sayTimes } from "./times.js";
import { look, offer, titled } from "./waiting.js";
import { heardRun } from "./workflows.js";

const main = document.getElementById("main");
let turn = 0;
let place = ""; // what is shown, or being fetched

/** Fetch the page for the current address and show it. */
export async function show({ scroll = true, focus = true } = {}) {
  const mine = ++turn;
  place = location.pathname + location.search;
  main.setAttribute("aria-busy", "true");
  const path = location.pathname === "/" ? "/" : location.pathname;
  let content;
  try {
    const answer = await ask("/view" + path + location.search, { evenBad: true });
    if (answer.status === 401) return askForKey("This tab has the key of an earlier start of the dashboard.");
    content = piece(await answer.text());
  } catch (error) {
    if (mine === turn) complainInPage(error);
    return;
  }
  if (mine !== turn) return;
  main.replaceChildren(content);
  shown();
  if (scroll) scrollTo(0, 0);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  if (focus) main.focus({ preventScroll: true });
}

/** Bring the page up to date, in place. */
async function refresh() {
  const mine = turn;
  try {
    const answer = await ask("/view" + location.pathname + location.search, { evenBad: true });
    const content = piece(await answer.text());
    const [old, fresh] = [main.firstElementChild, content.firstElementChild];
    if (mine !== turn || !old || !fresh || answer.status >= 400) return;
    if (old.querySelector("[data-keep-form]") && fresh.querySelector("[data-keep-form]")) {
      // What somebody is filling in stays as it is; the parts beside it that change are named.
      for (const part of fresh.querySelectorAll("[data-fresh]")) {
        const shown = document.getElementById(part.id);
        if (shown) morph(shown, part);
      }
      return;
    }
    morph(old, fresh);
    shown();
  } catch {
    // The stream reports when the dashboard is back, and the page is refreshed then.
  }
}

function shown() {
  main.setAttribute("aria-busy", "false");
  performance.mark("siding:shown"); // the benchmarks ask for it
  const article = main.querySelector("article");
  titled(`${article?.dataset.title ?? ""} · Siding`);
  offer(main);
  look();
  for (const link of document.querySelectorAll(".bar nav a")) {
    const { pathname } = new URL(link.href);
    const here = pathname === "/" ? /^\/($|tasks)/.test(location.pathname) : location.pathname.startsWith(pathname);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  sayTimes(document);
  outputs(main);
  patches(main);
  decisions(main);
  countTotals();
  const following = [...main.querySelectorAll("[data-output]")].map((each) => `output.${each.dataset.output}`);
  const { follow: topic } = article?.dataset ?? {};
  follow(["project", ...(topic ? [topic] : []), ...following], heard, liveness);
}

let waiting = 0;

function heard(message) {
  if (message.topic.startsWith("workflow")) return heardRun(message, soon);
  if (message.topic !== "project") return heardOutput(message);
  look();
  const { watch, hears } = main.querySelector("article")?.dataset ?? {};
  if (hears && message.changed?.events.some((name) => name.startsWith(hears))) return soon();
  const tasks = message.changed?.tasks ?? [];
  if (!message.lost && (!watch || (watch !== "*" && tasks.length && !tasks.includes(watch)))) return;
  soon();
}

/** Bring the page up to date in a moment, once for all that is heard until then. */
function soon(pause = 120) {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, pause);
}

let lost = false;

function liveness(state) {
  const sign = document.getElementById("live");
  sign.className = state;
  sign.setAttribute("aria-label", { on: "live", off: "paused", lost: "not connected" }[state]);
  if (state === "on" && lost) refresh();
  lost = state === "lost";
}

/** Fetch the change of each task on the page since its base, and fill it in. */
async function countTotals() {
  const unknown = [...main.querySelectorAll('[data-total][data-known="0"]')].slice(0, 60);
  if (!unknown.length) return;
  const answer = await ask(`/view/totals?tasks=${unknown.map((each) => each.dataset.total).join(",")}`);
  const found = piece(await answer.text());
  for (const each of found.querySelectorAll("[data-total]")) {
    const place = main.querySelector(`[data-total="${CSS.escape(each.dataset.total)}"]`);
    if (!place) continue;
    place.dataset.known = "1";
    place.replaceChildren(...each.childNodes);
  }
}

/** Show a message at the foot of the page for some seconds. */
export function say(text, bad = false) {
  const box = document.getElementById("said");
  box.textContent = inert(text);
  box.className = bad ? "said shown bad" : "said shown";
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (box.className = "said"), 6000);
}

export function go(address) {
  history.pushState(null, "", address);
  return show();
}

function complainInPage(error) {
  const box = element("div", "alone");
  box.append(element("h1", "", "That did not work"), element("p", "", error.message), element("p", "soft", error.hint ?? ""));
  main.replaceChildren(box);
  main.setAttribute("aria-busy", "false");
  liveness("lost");
}

function askForKey(why) {
  if (served) {
    dropKey(); // of a session that has ended; the page of the pairing begins another one
    return location.replace(`/pair#next=${location.pathname}${location.search}`);
  }
  const form = element("form", "alone");
  const label = element("label", "", "Paste the address that siding ui printed");
  const field = element("input");
  Object.assign(field, { name: "key", autocomplete: "off", required: true });
  label.append(field);
  form.append(element("h1", "", "This page needs the key"), element("p", "soft", why), label);
  form.append(element("button", "primary", "Open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (takeKey(field.value)) show();
    else field.setCustomValidity("This address has no key in it"), field.reportValidity();
  });
  field.addEventListener("input", () => field.setCustomValidity(""));
  main.replaceChildren(form);
  main.setAttribute("aria-busy", "false");
  field.focus();
}

function element(name, style = "", text = "") {
  const made = document.createElement(name);
  if (style) made.className = style;
  if (text) made.textContent = text;
  return made;
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[href]");
  if (link && !event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0) {
    if (link.dataset.download) {
      event.preventDefault();
      return save(link);
    }
    const target = new URL(link.getAttribute("href"), location); // the href of an SVG's link is no text
    const isJump = target.pathname === location.pathname && target.search === location.search && target.hash;
    if (target.origin !== location.origin || isJump) return;
    event.preventDefault();
    history.pushState(null, "", target);
    return show(link.dataset.keepScroll === undefined ? {} : { scroll: false, focus: false });
  }
  const button = event.target.closest("[data-post]");
  if (!button) return;
  button.disabled = true;
  try {
    await post(button.dataset.post, {});
    say(button.dataset.said);
    await refresh();
  } catch (error) {
    say(`${error.message} ${error.hint ?? ""}`, true);
  } finally {
    button.disabled = false;
  }
});

/** Save a download. It passes through memory, so take very large ones from Siding's home. */
async function save(link) {
  try {
    const answer = await ask(link.getAttribute("href"));
    const address = URL.createObjectURL(await answer.blob());
    const anchor = Object.assign(document.createElement("a"), { href: address, download: link.dataset.download });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  } catch (error) {
    say(error.message, true);
  }
}

function theme() {
  const choose = (name) => {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
  };
  choose(localStorage.getItem("siding.theme"));
  document.getElementById("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.trim() === "dark";
    localStorage.setItem("siding.theme", dark ? "light" : "dark");
    choose(dark ? "light" : "dark");
  });
}

theme();
dialogs({ go, say, refresh });
keyboard({ openDialog, go });
addEventListener("popstate", () => {
  if (location.pathname + location.search !== place) show({ focus: false }); // or it is a jump
});
addEventListener("siding:answered", () => show());
addEventListener("siding:said", ({ detail }) => {
  say(detail);
  refresh();
});
document.documentElement.classList.toggle("served", served);
await paired();
if (await haveKey()) show({ focus: false });
else askForKey("The key is in the address that siding ui prints. Open tabs share it.");
