// What is wrong with a page for people who read it otherwise: WCAG 2.2 AA, as far as a script can
// tell. Returns sentences; none is good. Evaluated by the tests.
() => {
  const problems = [];
  const say = (what, element) => problems.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
  const visible = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && box.width > 1 && box.height > 1;
  };
  const all = (selector) => [...document.querySelectorAll(selector)];

  if (!document.documentElement.lang) problems.push("no language");
  if (!document.title.trim()) problems.push("no title");
  for (const landmark of ["main", "nav", "header"]) {
    if (!document.querySelector(landmark)) problems.push(`no ${landmark}`);
  }
  const scope = document.querySelector("dialog[open]") ?? document;
  const headings = [...scope.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((each) => visible(each) && !each.closest(".prose"));
  if (scope === document && headings.filter((each) => each.localName === "h1").length !== 1) problems.push("not one h1");
  let level = scope === document ? 0 : 1;
  for (const heading of headings) {
    const its = Number(heading.localName[1]);
    if (its > level + 1) say(`heading skips from ${level}`, heading);
    level = its;
  }
  const ids = all("[id]").map((each) => each.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`two elements are #${id}`);
  for (const element of all("[aria-labelledby], [aria-describedby]")) {
    for (const name of ["aria-labelledby", "aria-describedby"]) {
      for (const id of (element.getAttribute(name) ?? "").split(/\s+/).filter(Boolean)) {
        if (!document.getElementById(id)) say(`${name} leads nowhere`, element);
      }
    }
  }
  for (const element of all("[tabindex]")) if (element.tabIndex > 0) say("its own tab order", element);
  for (const item of all("li")) if (!item.parentElement.matches("ul, ol, menu")) say("an item without a list", item);
  for (const item of all("dt, dd")) if (!item.closest("dl")) say("a term without a list", item);
  for (const cell of all("th")) if (!cell.hasAttribute("scope") && !cell.closest(".prose")) say("a header without a scope", cell);
  for (const element of all("main *, dialog[open] *")) {
    const style = getComputedStyle(element);
    const scrolls = /auto|scroll/.test(style.overflowY + style.overflowX) &&
      (element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1);
    if (scrolls && visible(element) && element.tabIndex < 0 && !element.querySelector("a[href], button, input, [tabindex]")) {
      say("scrolls, and not by keyboard", element);
    }
  }
  for (const target of all("button, a[href], input, select, textarea, summary")) {
    const box = target.getBoundingClientRect();
    const inline = getComputedStyle(target).display === "inline";
    if (visible(target) && !inline && (box.width < 13 || box.height < 13)) say("too small to hit", target);
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1) problems.push("the page scrolls sideways");

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  // Asked for each element and all around it; a canvas takes long, and there are few colours.
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) known.set(colour, drawn(colour));
    return known.get(colour);
  };
  const drawn = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((n) => top[n] * top[3] + under[n] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reduceRight((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || !visible(element) || element.closest("[disabled], .skip, noscript, option, svg, dialog:not([open])")) continue;
    if (document.querySelector("dialog[open]") && !element.closest("dialog")) continue;
    seen.add(element);
    const style = getComputedStyle(element);
    const under = behind(element);
    const text = over(rgba(style.color), under);
    const [a, b] = [light(text), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.01) say(`contrast ${ratio.toFixed(2)}`, element);
  }
  return problems;
};
