// Times as "3 minutes ago", kept up to date while the page is open.

const UNITS = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [86400 * 30, "day", 86400], [Infinity, "month", 86400 * 30]];
const said = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function sayTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const then = time.dataset.seconds ? time.dataset.seconds * 1000 : Date.parse(time.dateTime);
    if (Number.isNaN(then)) continue;
    const seconds = (Date.now() - then) / 1000;
    const [, unit, size] = UNITS.find(([limit]) => Math.abs(seconds) < limit);
    const text = seconds < 10 ? "just now" : said.format(-Math.floor(seconds / size), unit);
    if (time.textContent !== text) time.textContent = text;
    time.title ||= exact.format(then);
  }
}

/** Count what goes on: how long ago it began, as the server says such times. */
export function sayDurations(root) {
  for (const each of root.querySelectorAll("[data-since]")) {
    const text = lasting(Math.max(0, Math.floor((Date.now() - Number(each.dataset.since)) / 1000)));
    if (each.textContent !== text) each.textContent = text;
  }
}

function lasting(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}m`;
}

setInterval(() => document.hidden || sayDurations(document), 1000);
setInterval(() => document.hidden || sayTimes(document), 20_000);
