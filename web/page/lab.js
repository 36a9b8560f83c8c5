// The pages of the labs and the playground: runs commands in a worker, asks for a guess before, shows what came out,
// its picture and what the lab's text has, and keeps a student's answers. No framework, no server: it opens from a
// disk.
(function () {
  'use strict';
  const state = document.getElementById('state');
  const waiting = new Map();
  let worker = null, number = 0;

  // A worker from a file of its own may not be started from a disk; one from text may.
  function start() {
    const url = URL.createObjectURL(new Blob([window.FANOUT_WORKER], { type: 'text/javascript' }));
    worker = new Worker(url);
    worker.onmessage = (event) => {
      const { id, said, result } = event.data, task = waiting.get(id);
      if (!task) return;
      if (said !== undefined) return task.hears(said);
      waiting.delete(id);
      task.done(result);
    };
    worker.onerror = (event) => { state.textContent = 'the simulator did not start: ' + event.message; };
  }
  function stop() {
    worker.terminate();
    for (const task of waiting.values()) task.done({ code: 130, out: '', err: 'stopped\n', files: {} });
    waiting.clear();
    start();
  }
  function fanout(args, hears) {
    const ini = document.getElementById('ini');
    return new Promise((done) => {
      waiting.set(++number, { done: done, hears: hears || (() => {}) });
      worker.postMessage({ id: number, args: args, files: ini ? { 'mine.ini': ini.value } : {} });
    });
  }

  // ---- one box of a command

  function make(tag, text, parent) {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  const log = []; // of what was run, for the file of answers

  // ---- what a student wrote, kept in this browser: a page that was closed by mistake loses nothing

  const keeper = 'fanout: ' + document.body.dataset.title;
  const written = () => [...document.querySelectorAll('.guess input, .question textarea')];
  function keep() {
    try {
      const fields = Object.fromEntries(written().map((field) => [field.id, field.value]));
      localStorage.setItem(keeper, JSON.stringify({ fields: fields, runs: log }));
      return true;
    } catch (error) {
      return false; // a browser that keeps nothing for files: saving still works
    }
  }
  function restore() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(keeper));
    } catch (error) { /* nothing that can be read */ }
    if (!kept) return;
    for (const field of written()) field.value = kept.fields[field.id] || '';
    log.push(...kept.runs);
  }

  // Only one command makes a page of its own, and only where it says where to.
  function withPage(words) {
    const has = words.some((word) => word === '--html' || word.startsWith('--html='));
    const lists = words[0] === 'systems' ||
      ['--help', '-l', '--list', '--version'].some((word) => words.includes(word));
    return has || lists ? words : [...words, '--html', 'page.html'];
  }

  function box(run) {
    const command = run.querySelector('.command'), recorded = run.querySelector('.recorded');
    const guess = run.dataset.guess === '1' ? [...document.querySelectorAll('.guess input')].filter((input) =>
      input.compareDocumentPosition(run) & Node.DOCUMENT_POSITION_FOLLOWING).pop() : null;
    const name = run.querySelector('label').textContent;
    const original = command.value, row = make('div', '', run);
    const output = make('pre', '', run), note = make('p', '', run), picture = make('div', '', run);
    output.tabIndex = 0;
    output.setAttribute('role', 'region');
    output.setAttribute('aria-label', 'What came out of ' + name.toLowerCase());
    output.hidden = true;
    note.className = 'note';
    note.setAttribute('role', 'status');
    function showRecorded(why) {
      recorded.hidden = false;
      note.textContent = why;
    }
    if (!shellKnows(original)) {
      command.readOnly = true;
      const show = make('button', 'Show the output', row);
      show.type = 'button';
      const why = 'This needs a terminal; the output is that of the command under Linux.';
      show.onclick = () => asked() && showRecorded(why);
      return;
    }
    const go = make('button', 'Run', row), end = make('button', 'Stop', row);
    const see = make('button', 'Show the picture', row);
    for (const button of [go, end, see]) button.type = 'button';
    command.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || go.disabled) return;
      event.preventDefault();
      go.click();
    });
    end.disabled = true;
    see.hidden = true;
    function asked() {
      if (!guess || guess.value.trim()) return true;
      note.textContent = 'Guess first: write down what you expect.';
      guess.focus();
      return false;
    }
    go.onclick = async () => {
      if (!asked()) return;
      go.disabled = true;
      end.disabled = false;
      see.hidden = true;
      picture.textContent = '';
      const began = performance.now();
      let pages = [], runs = 0;
      const hears = (said) => { note.textContent = said.trim().split('\n').pop(); };
      note.textContent = 'running';
      try {
        if (!shellKnows(command.value)) throw new Error('this needs more of a shell than a page has');
        const text = await shellRun(command.value, async (words) => {
          note.textContent = 'running' + (runs++ ? ', command ' + runs : '');
          const result = await fanout(withPage(words), hears);
          for (const name in result.files) if (/\.html$/.test(name)) pages.push(result.files[name]);
          return result;
        });
        output.textContent = text;
        output.hidden = false;
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        const same = recorded.textContent && command.value === original &&
          text.trimEnd() === recorded.textContent.trimEnd();
        note.textContent = seconds + ' s in this page' + (same ? '; the same as in the text of the lab' : '');
        note.className = same ? 'note same' : 'note';
        log.push({ command: command.value, output: text });
        keep();
        see.hidden = pages.length !== 1;
      } catch (error) {
        note.textContent = error.message;
      }
      go.disabled = false;
      end.disabled = true;
      see.onclick = () => {
        picture.textContent = '';
        const frame = make('iframe', '', picture);
        frame.title = 'The page of this run: picture and curves';
        frame.srcdoc = new TextDecoder().decode(pages[0]);
      };
    };
    end.onclick = stop;
  }

  // ---- questions: what docs/labs/instructor/key.txt looks for, as its grade.py looks for it

  const names = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
  function has(text, alternative) {
    const number = /^(\d+(?:\.\d+)?)(?:~(\d+(?:\.\d+)?))?$/.exec(alternative);
    if (!number) return text.includes(alternative);
    const found = (text.match(/(?<![\w.])\d[\d,]*(?:\.\d+)?/g) || []).map((n) => parseFloat(n.replace(/,/g, '')));
    for (const word of text.match(/[a-z]+/g) || []) if (names.includes(word)) found.push(names.indexOf(word));
    const off = number[2] ? parseFloat(number[2]) : number[1] * 0.005;
    return found.some((one) => Math.abs(one - number[1]) <= off + 1e-9);
  }

  function questions() {
    for (const question of document.querySelectorAll('.question')) {
      const text = question.querySelector('textarea'), verdict = question.querySelector('.verdict');
      const parts = JSON.parse(question.dataset.parts);
      question.querySelector('.compare').onclick = () => {
        const answer = text.value.toLowerCase().split(/\s+/).join(' ').trim();
        if (!answer) {
          verdict.textContent = 'Write an answer first.';
          return text.focus();
        }
        const right = parts.filter((part) => part.some((alternative) => has(answer, alternative))).length;
        verdict.textContent = right === parts.length
          ? 'Your answer has what the question is about. Compare it with the instructor\u2019s:'
          : right ? 'A part of it is there. Compare with the instructor\u2019s answer:'
            : 'This looks for something else. Compare with the instructor\u2019s answer:';
        verdict.classList.toggle('same', right === parts.length);
        question.querySelector('.answer').hidden = false;
      };
    }
  }

  function save() {
    const answers = { lab: document.body.dataset.title, guesses: [], answers: {}, runs: log };
    for (const input of document.querySelectorAll('.guess:not(.free) input')) answers.guesses.push(input.value);
    for (const question of document.querySelectorAll('.question'))
      answers.answers[question.dataset.key] = question.querySelector('textarea').value;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(answers, null, 1)], { type: 'application/json' }));
    link.download = 'lab-' + (/\d/.exec(document.body.dataset.title) || ['x'])[0] + '-answers.json';
    link.click();
    document.getElementById('kept').textContent = 'Saved as ' + link.download + '.';
  }

  // While the page is read the program is compiled, so that the first run is as quick as the others.
  start();
  state.textContent = 'loading the simulator';
  fanout(['--version']).then(() => { state.textContent = 'ready'; });
  document.querySelectorAll('.run').forEach(box);
  questions();
  const saves = document.getElementById('save');
  if (saves) {
    saves.onclick = save;
    restore();
    for (const field of written()) field.addEventListener('input', keep);
    document.getElementById('clear').onclick = () => {
      for (const field of written()) field.value = '';
      log.length = 0;
      keep();
      document.getElementById('kept').textContent = 'All fields are empty again.';
    };
  }
  for (const button of document.querySelectorAll('.examples button')) {
    button.onclick = () => {
      const command = document.querySelector('.run:not(.free) .command');
      command.value = button.textContent;
      document.querySelector('.run:not(.free) button').click();
      command.scrollIntoView();
    };
  }
})();
