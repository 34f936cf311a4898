// This browser as a paired device: its key, and what it signs. The key is WebCrypto's, kept by the
// browser, which never hands it out, or an authenticator's (WebAuthn). IndexedDB keeps the key, or
// the id of the authenticator's credential, for this origin.

import { post } from "./door.js";

const STORE = "device";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };
let found; // the device, null for none; undefined until it was looked for

export const canWebCrypto = () => Boolean(globalThis.isSecureContext && crypto.subtle && globalThis.indexedDB);

/** Return whether an authenticator may be used here: it wants a name, not an address. */
export function canWebAuthn() {
  const named = /[a-z]/i.test(location.hostname) && !location.hostname.startsWith("[");
  return canWebCrypto() && named && Boolean(globalThis.PublicKeyCredential);
}

/** Return this browser's device: { id, name, kind, … }; null if it is not paired. */
export async function device() {
  if (found === undefined) found = canWebCrypto() ? await kept() : null;
  return found;
}

/** Return what the store has; null where the browser gives no store, as in some private windows. */
async function kept() {
  try {
    return (await inStore("readonly", (store) => store.get("me"))) ?? null;
  } catch {
    return null;
  }
}

/** Keep a device as this browser's. */
export async function remember(made) {
  await inStore("readwrite", (store) => store.put(made, "me"));
  found = made;
}

/** Forget the device: the server does not know it any more. */
export async function forget() {
  await inStore("readwrite", (store) => store.delete("me"));
  found = null;
}

/** Make a new key; return a device that is not kept yet, with its `publicKey`. */
export async function makeKey(kind, name) {
  const made = kind === "webauthn" ? await authenticatorKey(name) : await browserKey();
  const hash = await crypto.subtle.digest("SHA-256", made.publicKey);
  const id = [...new Uint8Array(hash)].map((each) => each.toString(16).padStart(2, "0")).join("").slice(0, 16);
  return { ...made, id, kind, name };
}

async function browserKey() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  return { privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey("spki", publicKey)) };
}

async function authenticatorKey(name) {
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: crypto.getRandomValues(new Uint8Array(32)), // nothing is signed here; `sign` does
      rp: { name: "Siding" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
      attestation: "none",
    },
  });
  const publicKey = made.response.getPublicKey();
  if (!publicKey || made.response.getPublicKeyAlgorithm() !== -7) throw new Error("this authenticator has no key on P-256");
  return { publicKey: new Uint8Array(publicKey), credential: base64url(made.rawId) };
}

/** Send an object as JSON, signed by a device; return the JSON of the response. */
export async function signed(path, body, by) {
  const me = by ?? (await device());
  const { challenge } = await post("/device/challenge", { device: me.id });
  const text = JSON.stringify(body);
  const hash = hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const lines = ["siding device, 1", location.origin, "POST", path, hash, me.id, challenge];
  const proof = await sign(me, new TextEncoder().encode(lines.join("\n")));
  const header = base64url(new TextEncoder().encode(JSON.stringify({ device: me.id, challenge, ...proof })));
  return post(path, text, { "Siding-Proof": header });
}

async function sign(me, message) {
  if (me.kind === "webcrypto") {
    return { signature: base64url(await crypto.subtle.sign(SIGNING, me.privateKey, message)) };
  }
  const { response } = await navigator.credentials.get({
    publicKey: {
      challenge: await crypto.subtle.digest("SHA-256", message),
      allowCredentials: [{ type: "public-key", id: fromBase64url(me.credential) }],
      userVerification: "preferred",
    },
  });
  return {
    signature: base64url(response.signature),
    authenticator: base64url(response.authenticatorData),
    client: base64url(response.clientDataJSON),
  };
}

export function base64url(buffer) {
  const letters = [...new Uint8Array(buffer)].map((each) => String.fromCharCode(each)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64url(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
}

const hex = (buffer) => [...new Uint8Array(buffer)].map((each) => each.toString(16).padStart(2, "0")).join("");

/** Run one request on the store of this origin. */
function inStore(mode, request) {
  return new Promise((done, failed) => {
    const opening = indexedDB.open("siding", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
      const turn = opening.result.transaction(STORE, mode);
      const asked = request(turn.objectStore(STORE));
      turn.oncomplete = () => (opening.result.close(), done(asked.result));
      turn.onabort = turn.onerror = () => failed(turn.error);
    };
  });
}
