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

setInterval(() => document.hidden || sayTimes(document), 20_000);
