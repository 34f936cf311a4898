// The key: this tab takes it from the address and sends it with every request. It is never part of
// a URL that is sent, and never in a cookie. A new tab asks the open tabs of the same origin for it.

/** Whether this is the address that is served to paired devices: the key is of their session. */
export const served = location.protocol === "https:";
const NAME = "siding.key";
const tabs = new BroadcastChannel("siding.key");
let key = sessionStorage.getItem(NAME);

tabs.onmessage = ({ data }) => {
  if (data === "who has it?" && key) tabs.postMessage({ key });
};

export class Refusal extends Error {
  constructor(status, message, hint = "", code = "") {
    super(inert(message));
    Object.assign(this, { status, hint: inert(hint), code });
  }
}

/** Spell out invisible and control characters, which could change how text looks. */
export function inert(text) {
  const spelled = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, spelled);
}

function keep(found) {
  key = found;
  sessionStorage.setItem(NAME, found);
  return true;
}

/** Keep the key of a session. */
export const keepKey = keep;

/** Forget a key that is good no more. */
export function dropKey() {
  key = null;
  sessionStorage.removeItem(NAME);
}

/** Return whether this tab has the key now. */
export async function haveKey() {
  const told = new URLSearchParams(location.hash.slice(1));
  if (told.has("key") || told.has("ticket")) {
    history.replaceState(history.state, "", location.pathname + location.search);
    if (told.has("key")) return keep(told.get("key"));
    const answer = await post("/key", { ticket: told.get("ticket") }).catch(() => null);
    if (answer) return keep(answer.key);
  }
  return Boolean(key) || askTabs();
}

/** Return the key in a pasted text: an address, or the key itself. */
export function takeKey(text) {
  const found = /key=([\w-]+)/.exec(text) ?? /^\s*([\w-]{20,})\s*$/.exec(text);
  return Boolean(found) && keep(found[1]);
}

function askTabs() {
  return new Promise((done) => {
    const heard = ({ data }) => {
      if (data?.key) finish(keep(data.key));
    };
    const finish = (answer) => {
      tabs.removeEventListener("message", heard);
      clearTimeout(timer);
      done(answer);
    };
    const timer = setTimeout(finish, 300, false);
    tabs.addEventListener("message", heard);
    tabs.postMessage("who has it?");
  });
}

/** Send a request; throw a Refusal for any response but success. */
export async function ask(path, options = {}) {
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const credentials = served ? "same-origin" : "omit"; // cookies ignore ports: others get them
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store", credentials });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The dashboard does not answer.", "It ends when nobody uses it; `siding ui` starts it again.");
  }
  if (answer.ok || options.evenBad) return answer;
  const told = await answer.json().catch(() => ({}));
  const { message, hint, code } = told.error ?? {};
  throw new Refusal(answer.status, message ?? `refused (${answer.status})`, hint ?? "", code ?? "");
}

/** Send an object, or a text that is JSON, and return the JSON of the response. */
export async function post(path, body, more = {}) {
  const headers = { "Content-Type": "application/json", ...more };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await ask(path, { method: "POST", headers, body: text });
  return answer.json();
}
