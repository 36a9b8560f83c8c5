/* Pictures of systems: what is pointed at, or reached by arrow keys, is said in words below. Without this script the
 * browser shows the same words as it does any title. */
"use strict";
for (const figure of document.querySelectorAll("figure.map")) {
  const stage = figure.querySelector("svg"), said = figure.querySelector(".said");
  const parts = [...figure.querySelectorAll(".part")];
  /* keys go through GPUs and switches first: there are fewer of them than links */
  const order = [...parts.filter(p => !p.classList.contains("link")), ...parts.filter(p => p.classList.contains("link"))];
  let at = -1;
  const say = part => {
    figure.querySelector(".part.said-of")?.classList.remove("said-of");
    part.classList.add("said-of");
    said.textContent = part.querySelector("title").textContent;
    at = order.indexOf(part);
  };
  figure.addEventListener("pointerover", event => {
    const part = event.target.closest(".part");
    if (part) say(part);
  });
  figure.addEventListener("focusin", event => {
    const part = event.target.closest(".part");
    if (part) say(part);
  });
  stage.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") stage.focus();
    if (event.key === "Home") at = -1;
    if (step === undefined && event.key !== "Home") return;
    event.preventDefault();
    at = Math.min(Math.max(at + (step ?? 1), 0), order.length - 1);
    order[at].focus();
  });
}
