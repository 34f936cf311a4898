// Acts that need a code: the first press makes the terminal print it, the second one sends it. A
// code is valid for exactly the act that was pressed. When that changes, the code is forgotten, and
// the next press prints a new one. Where this browser is paired, it signs what a device may do, and
// no code is asked for.

import { device, forget, signed } from "./device.js";
import { post, served } from "./door.js";

/**
 * Send what a person says: signed by this browser's device, or with a code. Return null when a code
 * was just printed and is not typed yet. `needsCode` is false for what the key alone may send.
 */
export async function say(form, { code: where, send, body, asked = body, needsCode = true }) {
  const box = form.querySelector(".terminal-code");
  if ((!box || box.hidden) && (await device())) {
    try {
      return await signed(send, body);
    } catch (error) {
      if (error instanceof DOMException && !served) {
        // the authenticator was not touched; the code still works
      } else if (error.code === "device_unknown") {
        await forget(); // it was removed
        await paired();
        if (served) throw error;
      } else throw error;
    }
  }
  if (!needsCode) return post(send, body);
  const code = await codeFor(form, where, asked);
  return code === null ? null : post(send, { ...body, code });
}

/** Mark the document as that of a paired device: some words of the pages differ. */
export async function paired() {
  document.documentElement.classList.toggle("paired", Boolean(await device()));
}

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
