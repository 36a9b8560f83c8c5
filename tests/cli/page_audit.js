/* What a page must be for everyone, as a list of what is wrong; an expression for tests/cli/page_checks.py.
 *
 * The same questions that accessibility checkers ask and that pages of reports can fail: a language and a title, one
 * main part, headings in order, names of everything that can be operated or that stands for a picture, regions that
 * scroll reached by the keyboard, tables with heads, no number twice, roles and states that exist, labels of form
 * fields, lists of list items, and a contrast of 4.5 to 1 between text and what is behind it. */
(() => {
  const wrong = [], say = (element, what) => wrong.push(`${element.outerHTML.slice(0, 120)}: ${what}`);
  const all = selector => [...document.querySelectorAll(selector)];
  const shown = element => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== "hidden";
  const name = element => (element.getAttribute("aria-label") || element.textContent || "").trim() ||
    (element.labels && [...element.labels].map(l => l.textContent).join("")) || element.getAttribute("title") || "";

  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title.trim()) wrong.push("no title");
  if (all("main").length !== 1) wrong.push("not one main");
  if (all("h1").length !== 1) wrong.push("not one h1");
  let level = 0;
  for (const heading of all("h1,h2,h3,h4,h5,h6").filter(shown)) {
    const own = +heading.tagName[1];
    if (own > level + 1) say(heading, `follows a heading of level ${level}`);
    if (!heading.textContent.trim()) say(heading, "empty heading");
    level = own;
  }
  for (const element of all("button,select,input,a,[role=img],[role=region],[role=group]").filter(shown))
    if (!name(element)) say(element, "no name");
  for (const element of all("input,select"))
    if (!element.labels.length && !element.getAttribute("aria-label")) say(element, "no label");
  for (const element of all("svg").filter(shown))
    if (!element.closest("[aria-hidden=true],[role=img],svg[role=group]")) say(element, "a picture without a role");
  const labels = all("[role=region],section").map(e => e.getAttribute("aria-label"));
  for (const label of labels.filter((label, i) => labels.indexOf(label) !== i)) wrong.push(`region twice: ${label}`);
  const ids = all("[id]").map(e => e.id);
  for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) wrong.push(`id twice: ${id}`);
  for (const element of all("ul > *, ol > *")) if (element.tagName !== "LI") say(element, "no item of a list");
  for (const element of all("dl > *")) if (!/^(DT|DD|DIV)$/.test(element.tagName)) say(element, "no part of a dl");
  for (const table of all("table")) {
    if (![...table.querySelectorAll("th")].length) say(table, "a table without heads");
    for (const head of table.querySelectorAll("th"))
      if (!head.getAttribute("scope") || !head.textContent.trim()) say(head, "a head without scope or words");
  }
  for (const element of all("[tabindex]"))
    if (+element.getAttribute("tabindex") > 0) say(element, "an order of its own");
  for (const element of all("*").filter(shown)) {
    const style = getComputedStyle(element);
    const scrolls = (/auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1) ||
                    (/auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
    if (scrolls && element.tabIndex < 0 && !element.querySelector("a[href],button,input,select,[tabindex='0']"))
      say(element, "scrolls, and no key gets there");
    if (element.getAttribute("aria-current") === "") say(element, "a state that is none");
  }

  /* ---- contrast */
  const parse = text => (text.match(/[\d.]+/g) || []).map(Number);
  const over = (top, below) => { const a = top[3] === undefined ? 1 : top[3];
    return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a)); };
  const behind = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length && (colour[3] === undefined || colour[3] > 0)) layers.push(colour);
    }
    return layers.reverse().reduce((below, layer) => over(layer, below),
      matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255]);
  };
  const light = colour => {
    const [r, g, b] = colour.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const seen = new Set();
  for (const element of all("body *").filter(shown)) {
    if (element.closest("svg") || ![...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const style = getComputedStyle(element), ground = behind(element), ink = over(parse(style.color), ground);
    const ratio = contrast(ink, ground), key = `${element.tagName}.${element.className}`;
    if (ratio < 4.5 && !seen.has(key)) say(element, `contrast ${ratio.toFixed(2)}`);
    if (ratio < 4.5) seen.add(key);
  }
  for (const text of all("svg text").filter(shown)) {
    const ink = parse(getComputedStyle(text).fill);
    const before = text.previousElementSibling; /* words on a mark: on what was drawn before them */
    const mark = text.matches(".sign") && before ? parse(getComputedStyle(before).fill) : null;
    const ratio = contrast(ink, mark || behind(text.closest("svg")));
    const key = `text.${text.getAttribute("class")}`;
    if (ratio < 4.5 && !seen.has(key)) say(text, `contrast ${ratio.toFixed(2)}`);
    if (ratio < 4.5) seen.add(key);
  }
  return wrong;
})()
