// Output: a running step's is shown as it comes, an ended one's in windows, because it may have
// gigabytes.

import { ask } from "./door.js";
import { piece } from "./pieces.js";

const MOST_ROWS = 3000;
const WINDOW = 65536; // bytes, as the server serves them
const NEAR = 200; // pixels from an edge: time to fetch what is beyond it
const FAR = NEAR + 1;

/** Fill the output boxes of a page that was just shown. */
export function outputs(root) {
  for (const box of root.querySelectorAll("[data-window]:not([data-ready])")) {
    box.dataset.ready = "";
    windows(box);
  }
  for (const box of root.querySelectorAll("[data-output]:not([data-ready])")) {
    box.dataset.ready = "";
    box.append(Object.assign(document.createElement("div"), { className: "l open" }));
  }
}

/** Show new output of a running step. Its rows are HTML from the server; each is checked. */
export function heardOutput(message) {
  const name = message.topic.slice("output.".length);
  for (const box of document.querySelectorAll(`[data-output="${CSS.escape(name)}"]`)) {
    const follows = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    const open = box.querySelector(".l.open");
    if (!open) continue;
    if (message.reset) {
      while (open.previousSibling) open.previousSibling.remove();
      if (message.before) open.before(mark("earlier output is on the step's page"));
    }
    if (message.lost || message.skipped) open.before(mark("some output is not shown"));
    if (message.rows) open.before(...message.rows.map(row));
    if (message.open !== undefined) open.replaceChildren(piece(message.open));
    if (message.ended) open.before(mark("ended"));
    while (box.childElementCount > MOST_ROWS) box.firstElementChild.remove();
    if (follows) box.scrollTop = box.scrollHeight;
  }
}

function row(html) {
  const line = document.createElement("div");
  line.className = "l";
  line.append(piece(html));
  return line;
}

function mark(text) {
  return Object.assign(document.createElement("div"), { className: "l mark", textContent: text });
}

/** Show the end of an output; scrolling to an edge fetches the window before or after it. */
function windows(box) {
  const size = Number(box.dataset.size);
  let [start, end] = [size, size];
  let busy = false;
  let turn = 0; // of the last jump: what an earlier one, or scrolling before it, still brings is late

  const fetchWindow = async (where) => {
    const answer = await ask(`/view${box.dataset.window}&${where}`);
    const found = piece(await answer.text()).firstElementChild;
    return { rows: [...found.childNodes], first: Number(found.dataset.start), last: Number(found.dataset.end) };
  };
  const replace = ({ rows, first, last }) => {
    box.replaceChildren(...rows);
    [start, end] = [first, last];
  };
  const jump = async (where) => {
    const mine = ++turn;
    const found = await fetchWindow(where);
    if (mine !== turn) return;
    replace(found);
    scrolled(start === 0 ? 0 : end >= size ? box.scrollHeight : FAR);
    bar?.place(start, end);
  };
  const scrolled = (top) => (box.scrollTop = top);
  const more = async (before) => {
    if (busy || (before ? start === 0 : end >= size)) return;
    busy = true;
    const mine = turn;
    try {
      const found = await fetchWindow(before ? `at=${Math.max(0, start - WINDOW)}&until=${start}` : `at=${end}`);
      if (mine !== turn) return;
      if (box.childElementCount + found.rows.length > MOST_ROWS) {
        replace(found); // seen from where it joins what was there, far enough from the edge not to load again
        scrolled(before ? box.scrollHeight - box.clientHeight - FAR : FAR);
      } else if (before) prepend(found);
      else append(found);
      bar?.place(start, end);
    } finally {
      busy = false;
    }
  };
  const prepend = ({ rows, first }) => {
    const height = box.scrollHeight;
    box.prepend(...rows);
    box.scrollTop += box.scrollHeight - height; // what was read stays where it was
    start = first;
  };
  const append = ({ rows, last }) => {
    box.append(...rows);
    end = last;
  };
  const bar = size > WINDOW ? scroller(size, jump) : null;
  if (bar) box.before(bar.element);
  box.addEventListener("scroll", () => {
    if (box.scrollTop < NEAR) more(true);
    if (box.scrollHeight - box.scrollTop - box.clientHeight < NEAR) more(false);
  });
  jump(size > WINDOW ? "end=1" : "at=0");
}

function scroller(size, jump) {
  const element = Object.assign(document.createElement("div"), { className: "scroller" });
  const button = (text, where) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: text });
    made.addEventListener("click", () => jump(where));
    return made;
  };
  const range = Object.assign(document.createElement("input"), { type: "range", min: 0, max: 1000, step: 1 });
  range.setAttribute("aria-label", "Place in the output");
  range.addEventListener("change", () => jump(`at=${Math.floor((size * range.value) / 1000)}`));
  const told = Object.assign(document.createElement("span"), { className: "soft" });
  element.append(button("First", "at=0"), range, button("Last", "end=1"), told);
  return {
    element,
    place(start, end) {
      range.value = Math.round((1000 * start) / Math.max(1, size - WINDOW));
      told.textContent = `bytes ${start.toLocaleString("en")} to ${end.toLocaleString("en")} of ${size.toLocaleString("en")}`;
    },
  };
}
