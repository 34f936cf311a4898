// Keyboard shortcuts. Letters work while no field has the focus; Tab reaches everything else.

import { showInDialog } from "./dialogs.js";

const PLACES = { b: "/", i: "/inbox", d: "/decisions", w: "/workflows", p: "/phases", s: "/sessions", e: "/events", u: "/disk" };
const HELP = [
  ["j, k", "next, previous"],
  ["Enter", "open it"],
  ["g then b", "board"],
  ["g then i", "inbox"],
  ["g then d", "decisions"],
  ["g then w", "workflows"],
  ["g then p, s, e, u", "phases, sessions, events, disk use"],
  ["n", "start a task"],
  ["1 to 9", "choose an option of a decision"],
  ["←, →", "previous question, next question"],
  ["Ctrl+Enter", "send the answers"],
  ["Esc", "close the dialog"],
  ["?", "this list"],
];

export function keyboard({ openDialog, go }) {
  let after = "";
  document.getElementById("keys").addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select, dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const pressed = event.key;
    if (after === "g" && PLACES[pressed]) {
      event.preventDefault();
      go(PLACES[pressed]);
    } else if (pressed === "j" || pressed === "k") {
      event.preventDefault();
      walk(pressed === "j" ? 1 : -1);
    } else if (pressed === "n") {
      event.preventDefault();
      openDialog("/new-task");
    } else if (pressed === "?") {
      help();
    }
    after = pressed;
  });
}

function walk(by) {
  const stops = [...document.querySelectorAll("[data-step]")];
  const at = stops.indexOf(document.activeElement);
  stops[Math.min(stops.length - 1, Math.max(0, at < 0 ? 0 : at + by))]?.focus();
}

function help() {
  const box = document.createElement("div");
  box.className = "dialog";
  const title = Object.assign(document.createElement("h2"), { textContent: "Keys" });
  const list = Object.assign(document.createElement("dl"), { className: "keys" });
  for (const [keys, means] of HELP) {
    const term = document.createElement("dt");
    term.append(Object.assign(document.createElement("kbd"), { textContent: keys }));
    list.append(term, Object.assign(document.createElement("dd"), { textContent: means }));
  }
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Close" });
  close.dataset.close = "";
  box.append(title, list, close);
  showInDialog(box, "Keys");
}
