// Put HTML from the server into the page. The server escapes everything that came from outside. This
// module also refuses all elements and attributes that the templates do not use, so that a mistake
// in a template cannot become a script. No other module turns text into elements.

const ELEMENTS = new Set(
  ("a article blockquote br button caption circle code dd del details div dl dt em fieldset figcaption figure form " +
    "g h1 h2 h3 h4 h5 h6 header hr input kbd label legend li meter nav ol option p path pre rect s section select small " +
    "span strong summary svg table tbody td textarea th thead time title tr ul").split(" "),
);
const ATTRIBUTES = new Set(
  ("autocapitalize autocomplete autofocus checked class cx cy d datetime disabled for height href id max maxlength min " +
    "hidden name open pattern placeholder preserveaspectratio r rel required role rows scope selected spellcheck start " +
    "tabindex title type value viewbox width x y").split(" "),
);

/** Return HTML as a fragment; throw if it has an element or attribute that is not allowed. */
export function piece(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const element of template.content.querySelectorAll("*")) {
    if (!ELEMENTS.has(element.localName)) throw new Error(`<${element.localName}> does not belong here`);
    for (const { name, value } of element.attributes) {
      const known = ATTRIBUTES.has(name.toLowerCase()) || name.startsWith("data-") || name.startsWith("aria-");
      if (!known) throw new Error(`${name} does not belong here`);
      if (name === "href" && !/^[/#][^/\\]|^\/$|^#$/.test(value)) throw new Error("links stay here");
    }
  }
  return template.content;
}

/** Change `old` to `fresh`, only where they differ, to keep focus, scrolling and open details. */
export function morph(old, fresh) {
  if (old.dataset?.keep !== undefined && old.id === fresh.id) {
    if (old.dataset.output !== fresh.dataset.output) old.replaceWith(fresh); // it was live, and has ended
    return;
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    const ours = name === "open" && old.localName === "details";
    if (!fresh.hasAttribute(name) && !ours) old.removeAttribute(name);
  }
  morphChildren(old, fresh);
}

function morphChildren(old, fresh) {
  const known = new Map([...old.children].filter((each) => each.id).map((each) => [each.id, each]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const same = wanted.id ? known.get(wanted.id) : alike(at, wanted) ? at : null;
    if (!same) {
      old.insertBefore(wanted, at);
      continue;
    }
    if (same !== at) old.insertBefore(same, at);
    else at = at.nextSibling;
    if (same.nodeType === Node.TEXT_NODE) {
      if (same.data !== wanted.data) same.data = wanted.data;
    } else if (same.nodeType === Node.ELEMENT_NODE) {
      morph(same, wanted);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function alike(old, fresh) {
  return old && old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName && !old.id && !fresh.id;
}
