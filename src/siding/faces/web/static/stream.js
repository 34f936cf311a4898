// The live stream. It is read with fetch, because an EventSource cannot send the key in a header. It
// is closed while the page is hidden: with HTTP/1.1 a browser opens six connections to a server at
// most, and all its tabs share them.

import { ask } from "./door.js";

let topics = "";
let reading = null;
let pause = 500;
let hear = () => {};
let tell = () => {};

/** Follow these topics from now on; `heard` gets each message, `state` "on", "off" or "lost". */
export function follow(names, heard, state) {
  hear = heard;
  tell = state;
  const wanted = [...new Set(names)].slice(0, 8).join(",");
  if (wanted === topics && reading) return;
  topics = wanted;
  restart();
}

function restart() {
  reading?.abort();
  reading = null;
  if (document.hidden || !topics) return;
  const mine = new AbortController();
  reading = mine;
  read(mine).catch(() => {}).finally(() => {
    if (reading !== mine) return;
    reading = null;
    tell("lost");
    setTimeout(() => reading ?? restart(), pause);
    pause = Math.min(pause * 2, 15000);
  });
}

async function read(mine) {
  const answer = await ask(`/live?topics=${topics}`, { signal: mine.signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  tell("on");
  pause = 500;
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const messages = text.split("\n\n");
    text = messages.pop();
    for (const message of messages) {
      if (message.startsWith("data: ") && reading === mine) hear(JSON.parse(message.slice(6)));
    }
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    reading?.abort();
    reading = null;
    tell("off");
  } else {
    pause = 500;
    restart();
    hear({ topic: "project", changed: { tasks: [], events: [] } });
  }
});
