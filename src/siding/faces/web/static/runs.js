// Runs that live: a person stops one, with the code from the terminal or as a paired device.

import { say } from "./codes.js";

async function stop(form) {
  const complaint = form.querySelector(".complaint");
  const button = form.querySelector("button.submit");
  const address = form.dataset.run;
  complaint.textContent = "";
  button.disabled = true;
  try {
    const done = await say(form, { code: `${address}/code`, send: `${address}/stop`, body: {}, asked: {} });
    if (done) dispatchEvent(new CustomEvent("siding:said", { detail: `${done.run} has ended` }));
  } catch (error) {
    complaint.textContent = [error.message, error.hint].filter(Boolean).join(" ");
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  if (event.target.dataset.run === undefined) return;
  event.preventDefault();
  stop(event.target);
});
