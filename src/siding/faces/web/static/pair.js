// The page on which a browser is paired, and on which a paired one signs in where the dashboard is
// served to devices. Signing in with a key in the browser asks nothing of the person.

import { base64url, canWebAuthn, canWebCrypto, device, forget, makeKey, remember, signed } from "./device.js";
import { haveKey, keepKey, served } from "./door.js";

const ENTERED = "siding.entered";
const AGAIN_MS = 3000; // who comes back so soon has lost the session, and would for ever
const main = document.getElementById("main");
const form = document.getElementById("pair");
const signing = document.getElementById("sign-in");

function show(id) {
  for (const each of main.children) each.hidden = each.id !== id;
  main.setAttribute("aria-busy", "false");
}

function complain(place, error) {
  place.querySelector(".complaint").textContent = [error.message, error.hint].filter(Boolean).join(" ");
}

function usualName() {
  const told = navigator.userAgentData?.platform || navigator.userAgent;
  const known = ["Android", "iPhone", "iPad", "Windows", "Mac", "Linux"].find((each) => told.includes(each));
  return `${known ?? "a"} browser`;
}

function offerPairing() {
  form.elements.name.value ||= usualName();
  form.querySelector("[value=webauthn]").hidden = !canWebAuthn();
  form.querySelector("[value=webcrypto]").className = canWebAuthn() ? "" : "primary";
  show("pair");
  form.elements.code.focus();
}

async function pair(kind) {
  const name = form.elements.name.value.trim();
  const made = await makeKey(kind, name);
  const { publicKey, ...kept } = made;
  const body = { code: form.elements.code.value, name, kind, public_key: base64url(publicKey), credential: made.credential ?? "" };
  const told = await signed("/device/pair", body, made);
  await remember({ ...kept, name: told.name });
  document.getElementById("paired-as").textContent = `This browser is ${told.name}.`;
  if (served) await signIn();
  show("paired");
}

async function signIn() {
  keepKey((await signed("/device/sign-in", {})).key);
}

/** Return the page that was asked for before the session had ended. */
function wanted() {
  const next = new URLSearchParams(location.hash.slice(1)).get("next") ?? "";
  return /^\/([^/\\]|$)/.test(next) ? next : "/inbox";
}

/** Sign in and go on to the page that was asked for. */
async function enter(me) {
  document.getElementById("who").textContent = `This browser is ${me.name}.`;
  show("sign-in");
  const button = signing.querySelector(".primary");
  button.disabled = true;
  signing.querySelector(".complaint").textContent = "";
  try {
    await signIn();
    if (Date.now() - Number(sessionStorage.getItem(ENTERED)) < AGAIN_MS) {
      throw new Error("The session was not kept: this browser takes no cookie here.");
    }
    sessionStorage.setItem(ENTERED, Date.now());
    location.pathname === "/pair" ? location.replace(wanted()) : location.reload();
  } catch (error) {
    button.disabled = false;
    if (error.code === "device_unknown") return forgotten(error);
    complain(signing, error);
  }
}

async function forgotten(error) {
  await forget();
  offerPairing();
  complain(form, error);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const buttons = [...form.querySelectorAll("button")];
  buttons.forEach((each) => (each.disabled = true));
  form.querySelector(".complaint").textContent = "";
  try {
    await pair(event.submitter?.value ?? "webcrypto");
  } catch (error) {
    complain(form, error);
  } finally {
    buttons.forEach((each) => (each.disabled = false));
  }
});
signing.querySelector(".primary").addEventListener("click", async () => enter(await device()));
signing.querySelector("[data-forget]").addEventListener("click", async () => {
  await forget();
  offerPairing();
});

if (!canWebCrypto()) {
  show("unable");
} else {
  if (!served) await haveKey(); // of the address, for what is asked of the server
  const me = await device();
  if (!me || (location.pathname === "/pair" && !served)) offerPairing();
  else if (me.kind === "webcrypto") await enter(me);
  else {
    document.getElementById("who").textContent = `This browser is ${me.name}.`;
    show("sign-in"); // an authenticator wants to be touched, and so the button
  }
}
