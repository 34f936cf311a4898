// Acts that need a code: the first press makes the terminal print it, the second one sends it. A
// code is valid for exactly the act that was pressed. When that changes, the code is forgotten, and
// the next press prints a new one.

import { post } from "./door.js";

/** Return the code that was typed; null when one was just printed and is not typed yet. */
export async function codeFor(form, address, body) {
  const box = form.querySelector(".terminal-code");
  const field = form.elements.code;
  if (!box.hidden) return field.value.trim();
  await post(address, body);
  box.hidden = false;
  field.required = true;
  field.focus();
  box.scrollIntoView({ block: "nearest" });
  return null;
}

/** Forget the code of a form. */
export function forgetCode(form) {
  const box = form.querySelector(".terminal-code");
  if (!box || box.hidden) return;
  box.hidden = true;
  form.elements.code.required = false;
  form.elements.code.value = "";
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-new-code]");
  if (!button) return;
  const { form } = button;
  forgetCode(form);
  form.requestSubmit();
});
