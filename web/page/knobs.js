// The knobs of a page: fields that make a command, and a drawing of the system that it runs on. A box of a command
// follows; its text is the form's, and may still be changed by hand. Begins with what the page's data-knobs says, "KIND
// SYSTEM FAULT".
(function () {
  'use strict';
  const place = document.querySelector('.knobs');
  if (!place) return;
  const systems = { 'teach-4gpu': { gpus: 4, links: [1, 1] }, 'dgx-h100': { gpus: 8, links: [4, 5, 5, 4] } };
  const sizes = ['1K', '4K', '16K', '64K', '256K', '1M', '4M'];
  const fields = [
    ['kind', 'What runs', [['load', 'a load, step by step'], ['multimem.st', 'a multicast store, step by step'],
      ['multimem.ld_reduce', 'a sum in the switch, step by step'], ['all_reduce', 'all-reduce'],
      ['all_gather', 'all-gather'],
      ['broadcast', 'broadcast'], ['barrier', 'a barrier']]],
    ['system', 'System', Object.keys(systems).map((name) => [name, name])],
    ['gpus', 'GPUs', [['', 'as it is'], '2', '3', '4', '6', '8', '12', '16']],
    ['links', 'Links to each switch', [['', 'as it is'], '1', '2', '3', '4']],
    ['tags', 'Tags of a switch port', [['', 'as it is'], '1', '4', '16', '64', '256']],
    ['algo', 'Algorithm', ['nvls', 'ring', ['nvls,ring', 'nvls and ring'], ['best', 'the fastest of all']]],
    ['size', 'Size', sizes],
    ['last', 'Up to', [['', 'that size alone'], ...sizes.slice(1)]],
    ['traffic', 'Other traffic', [['', 'none'], ['0.5', 'links half full'], ['0.8', '80 %'], ['0.9', '90 %']]],
    ['fault', 'Broken', [['', 'nothing'], ['link_down=gpu1.link0', 'link 0 of GPU 1'],
      ['link_degraded=gpu1.link0:50', 'half of link 0 of GPU 1'], ['switch_down=switch0', 'switch 0']]],
  ];
  const only = { walk: ['traffic'], coll: ['size', 'last', 'algo'] };
  const control = {};

  function isWalk() { return /^(load|multimem)/.test(control.kind.value); }
  function value(name) { return control[name].disabled ? '' : control[name].value; }

  for (const [name, text, options] of fields) {
    const label = document.createElement('label'), select = document.createElement('select');
    label.textContent = text;
    for (const option of options) {
      const [key, words] = Array.isArray(option) ? option : [option, option];
      select.add(new Option(words, key));
    }
    label.appendChild(select);
    place.querySelector('.fields').appendChild(label);
    control[name] = select;
    select.onchange = follow;
  }

  function shape() {
    const system = systems[value('system')], links = value('links');
    const gpus = parseInt(value('gpus'), 10) || system.gpus;
    return { gpus: gpus, links: system.links.map((n) => parseInt(links, 10) || n) };
  }

  function command() {
    const words = ['fanout', isWalk() ? 'walk' : 'coll', value('kind'), '-s', value('system')];
    const barrier = value('kind') === 'barrier';
    if (value('algo') && !barrier) words.push('-a', value('algo'));
    if (value('size') && !barrier) words.push('-b', value('size'));
    const several = sizes.indexOf(value('last')) > sizes.indexOf(value('size'));
    if (several && !barrier) words.push('-e', value('last'), '-f', '4');
    if (value('gpus')) words.push('--set', 'system.gpus=' + value('gpus'));
    if (value('links')) words.push('--set', 'system.links_per_switch=' + shape().links.join(','));
    for (const kind of value('tags') ? ['multicast', 'reduction'] : [])
      words.push('--set', 'switch.' + kind + '_tags=' + value('tags'));
    if (value('traffic')) words.push('--background', value('traffic'));
    if (value('fault')) words.push('--fault', value('fault'));
    if (!isWalk()) words.push('--no-compare');
    return words.join(' ');
  }

  // GPUs above, switches below, a line for each link.
  const svg = 'http://www.w3.org/2000/svg';
  function draw(parent, tag, attributes, text) {
    const element = document.createElementNS(svg, tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    if (text) element.textContent = text;
    parent.appendChild(element);
    return element;
  }
  function picture() {
    const { gpus, links } = shape(), fault = value('fault'), at = place.querySelector('.system');
    const width = 640, height = 190, x = (i, n) => (i + 0.5) * width / n, down = /switch_down/.test(fault);
    const all = links.reduce((sum, n) => sum + n, 0), broken = down ? 'switch 0 is down' : /degraded/.test(fault)
      ? 'link 0 of GPU 1 has half of its rate' : fault ? 'link 0 of GPU 1 is down' : '';
    at.textContent = '';
    const words = gpus + ' GPUs with ' + all + ' links each, to ' + links.length + ' switches' +
      (broken ? '; ' + broken : '');
    const image = draw(at, 'svg', { viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': words });
    const breadth = Math.min(74, width / gpus - 4);
    for (let g = 0; g < gpus; g++) {
      let number = 0;
      links.forEach((n, s) => {
        for (let k = 0; k < n; k++, number++) {
          const off = (k - (n - 1) / 2) * 4, hit = (down && s === 0) || (fault && !down && g === 1 && number === 0);
          const from = x(g, gpus) + off, to = x(s, links.length) + off;
          draw(image, 'line', { x1: from, y1: 46, x2: to, y2: 138, class: hit ? 'hit' : 'wire' });
        }
      });
      draw(image, 'rect', { x: x(g, gpus) - breadth / 2, y: 14, width: breadth, height: 32, rx: 4, class: 'part' });
      draw(image, 'text', { x: x(g, gpus), y: 36, 'text-anchor': 'middle' }, (gpus > 8 ? '' : 'GPU ') + g);
    }
    links.forEach((n, s) => {
      const look = down && s === 0 ? 'part hit' : 'part';
      draw(image, 'rect', { x: x(s, links.length) - 52, y: 138, width: 104, height: 32, rx: 4, class: look });
      draw(image, 'text', { x: x(s, links.length), y: 160, 'text-anchor': 'middle' }, 'switch ' + s);
    });
    place.querySelector('.words').textContent = words + '.';
  }

  function follow() {
    for (const name of only.walk) control[name].disabled = !isWalk();
    for (const name of only.coll) control[name].disabled = isWalk() || control.kind.value === 'barrier';
    place.querySelector('.command').value = command();
    picture();
  }

  const [kind, system, fault] = place.dataset.knobs.split(' ');
  control.kind.value = kind;
  control.system.value = system;
  control.size.value = '64K';
  if (fault) control.fault.value = fault;
  follow();
})();
