// Output: of a running step as it comes, of an ended one in windows. A gigabyte is never here whole.

import { ask } from "./door.js";
import { piece } from "./pieces.js";

const MOST_ROWS = 3000;

/** Take care of the output boxes of a page that was just shown. */
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

/** A message about a running step's output. Rows are the server's HTML, each checked as a piece. */
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

/** Show the end of an output; scrolling to an edge brings the window before or after. */
function windows(box) {
  const size = Number(box.dataset.size);
  let [start, end] = [size, size];
  let busy = false;

  const fetchWindow = async (where) => {
    const answer = await ask(`/view${box.dataset.window}&${where}`);
    return piece(await answer.text()).firstElementChild;
  };
  const jump = async (where) => {
    busy = true;
    const found = await fetchWindow(where);
    box.replaceChildren(...found.childNodes);
    [start, end] = [Number(found.dataset.start), Number(found.dataset.end)];
    place();
    busy = false;
  };
  const more = async (before) => {
    if (busy || (before ? start === 0 : end >= size)) return;
    busy = true;
    const found = await fetchWindow(before ? `at=${Math.max(0, start - 65536)}` : `at=${end}`);
    const rows = [...found.childNodes];
    if (before) {
      const height = box.scrollHeight;
      box.prepend(...until(rows, found, start));
      start = Number(found.dataset.start);
      box.scrollTop += box.scrollHeight - height;
      if (box.childElementCount > MOST_ROWS) await jump(`at=${start}`);
    } else {
      box.append(...rows);
      const grown = Number(found.dataset.end);
      if (box.childElementCount > MOST_ROWS) await jump(`at=${end}`);
      else end = grown;
    }
    place();
    busy = false;
  };
  // The window before may reach into the one that is shown: then it is shown alone.
  const until = (rows, found, shown) => {
    if (Number(found.dataset.end) !== shown) {
      box.replaceChildren();
      end = Number(found.dataset.end);
    }
    return rows;
  };
  const bar = size > 65536 ? scroller(size, jump) : null;
  const place = () => bar?.place(start, end);
  if (bar) box.before(bar.element);
  box.addEventListener("scroll", () => {
    if (box.scrollTop < 200) more(true);
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 200) more(false);
  });
  jump(size > 65536 ? "end=1" : "at=0").then(() => {
    if (size > 65536) box.scrollTop = box.scrollHeight;
  });
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
      range.value = Math.round((1000 * start) / Math.max(1, size - 65536));
      told.textContent = `bytes ${start.toLocaleString("en")} to ${end.toLocaleString("en")} of ${size.toLocaleString("en")}`;
    },
  };
}
