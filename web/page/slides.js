// Turns the slides of a lecture: one at a time, by keys, buttons, or the number behind # in the address. Without a
// script all of them stand below each other.
(function () {
  'use strict';
  const slides = [...document.querySelectorAll('.slide')], at = document.getElementById('at');
  const notes = document.getElementById('notes');
  let now = Math.min(Math.max(parseInt(location.hash.slice(1), 10) || 1, 1), slides.length) - 1;

  function show(n, focus) {
    now = Math.min(Math.max(n, 0), slides.length - 1);
    slides.forEach((slide, i) => slide.classList.toggle('now', i === now));
    at.textContent = (now + 1) + ' of ' + slides.length;
    history.replaceState(null, '', '#' + (now + 1));
    scrollTo(0, 0);
    if (focus) slides[now].focus();
  }
  function toggle() {
    notes.setAttribute('aria-pressed', String(document.body.classList.toggle('with-notes')));
  }
  const keys = {
    ArrowRight: () => show(now + 1, true), ArrowLeft: () => show(now - 1, true),
    PageDown: () => show(now + 1, true), PageUp: () => show(now - 1, true),
    ' ': () => show(now + 1, true), Home: () => show(0, true), End: () => show(slides.length - 1, true),
    n: toggle, N: toggle,
  };
  document.addEventListener('keydown', (event) => {
    const inside = event.target.closest('button, pre');
    if (!(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (inside && (event.key === ' ' || (inside.tagName === 'PRE' && /^(Arrow|Home|End)/.test(event.key)))) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.getElementById('back').onclick = () => show(now - 1, false);
  document.getElementById('on').onclick = () => show(now + 1, false);
  notes.onclick = toggle;
  document.body.classList.add('shown');
  show(now, false);
})();
