// Patches: the list of files is fetched first, the rows of a file when it comes into view.

import { ask } from "./door.js";
import { piece } from "./pieces.js";

let mode = localStorage.getItem("siding.patch") ?? (innerWidth >= 1200 ? "split" : "unified");

const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      load(target);
    }
  },
  { rootMargin: "600px" },
);

export async function patches(root) {
  const box = root.querySelector("[data-files]:not([data-ready])");
  if (!box) return;
  box.dataset.ready = "";
  await files(box, box.dataset.files);
  showMode(root);
}

async function files(box, path) {
  const answer = await ask(`/view${path}`);
  box.append(...piece(await answer.text()).firstElementChild.childNodes);
  watch(box);
}

function watch(root) {
  for (const rows of root.querySelectorAll("[data-rows]:not([data-watched]), [data-later]:not([data-watched])")) {
    rows.dataset.watched = "";
    seen.observe(rows);
  }
}

async function load(place) {
  const asked = mode;
  const path = place.dataset.later ?? `${place.dataset.rows}&mode=${mode}`;
  const answer = await ask(`/view${path}`);
  if (asked !== mode) return; // shown the other way by now, and asked for again
  const block = piece(await answer.text()).firstElementChild;
  if (place.dataset.later) {
    place.closest(".rows").append(block);
    place.remove();
  } else {
    place.replaceChildren(block);
  }
  watch(block.parentNode ?? block);
}

function showMode(root) {
  for (const button of root.querySelectorAll("[data-mode]")) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  }
}

document.addEventListener("click", (event) => {
  const chooser = event.target.closest("[data-mode]");
  if (chooser) {
    mode = chooser.dataset.mode;
    localStorage.setItem("siding.patch", mode);
    showMode(document);
    for (const rows of document.querySelectorAll("[data-rows]")) {
      rows.replaceChildren();
      seen.unobserve(rows);
      seen.observe(rows);
    }
  }
  const more = event.target.closest("[data-more-files]");
  if (more) {
    const box = more.closest("[data-files]");
    more.parentElement.remove();
    files(box, more.dataset.moreFiles);
  }
  const jump = event.target.closest(".file-list a");
  if (jump) document.querySelector(jump.getAttribute("href"))?.setAttribute("open", "");
});
