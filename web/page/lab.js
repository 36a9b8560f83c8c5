// The pages of the labs and the playground: runs commands in a worker, asks for a guess before, shows what came out, its
// picture and what the lab's text has, and keeps a student's answers. No framework, no server: it opens from a disk.
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

  // Only one command makes a page of its own, and only where it says where to.
  function withPage(words) {
    const has = words.some((word) => word === '--html' || word.startsWith('--html='));
    return has || words[0] === 'systems' || words.includes('--help') || words.includes('-l') || words.includes('--list') ? words
      : [...words, '--html', 'page.html'];
  }

  function box(run) {
    const command = run.querySelector('.command'), recorded = run.querySelector('.recorded');
    const guess = run.dataset.guess === '1' ? [...document.querySelectorAll('.guess input')].filter((input) =>
      input.compareDocumentPosition(run) & Node.DOCUMENT_POSITION_FOLLOWING).pop() : null;
    const original = command.value, row = make('div', '', run);
    const output = make('pre', '', run), note = make('p', '', run), picture = make('div', '', run);
    output.tabIndex = 0;
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
      show.onclick = () => asked() && showRecorded('This needs a terminal; the output is that of the command under Linux.');
      return;
    }
    const go = make('button', 'Run', row), end = make('button', 'Stop', row), see = make('button', 'Show the picture', row);
    for (const button of [go, end, see]) button.type = 'button';
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
        const same = recorded.textContent && command.value === original && text.trimEnd() === recorded.textContent.trimEnd();
        note.textContent = seconds + ' s in this page' + (same ? '; the same as in the text of the lab' : '');
        note.className = same ? 'note same' : 'note';
        log.push({ command: command.value, output: text });
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

  function questions() {
    for (const question of document.querySelectorAll('.question')) {
      question.querySelector('.compare').onclick = () => {
        const text = question.querySelector('textarea');
        if (!text.value.trim()) return text.focus();
        question.querySelector('.answer').hidden = false;
      };
    }
  }

  function save() {
    const answers = { lab: document.body.dataset.title, guesses: [], answers: {}, runs: log };
    for (const input of document.querySelectorAll('.guess input')) answers.guesses.push(input.value);
    for (const question of document.querySelectorAll('.question'))
      answers.answers[question.dataset.key] = question.querySelector('textarea').value;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(answers, null, 1)], { type: 'application/json' }));
    link.download = 'answers.json';
    link.click();
  }

  start();
  state.textContent = 'ready';
  document.querySelectorAll('.run').forEach(box);
  questions();
  const saves = document.getElementById('save');
  if (saves) saves.onclick = save;
  for (const button of document.querySelectorAll('.examples button')) {
    button.onclick = () => {
      const command = document.querySelector('.run .command');
      command.value = button.textContent;
      document.querySelector('.run button').click();
      command.scrollIntoView();
    };
  }
})();
