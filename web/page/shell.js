// What the labs' blocks ask of a shell, and no more: `for NAME in WORDS; do ... done`, variables, pipes, and the
// filters tail, head, grep, sed -n and s///, sort, columns.sh and by.sh. A block that asks for more (awk, jq) is told
// apart by shellKnows() and stays what it is: text with its output. The one program is `fanout`, which the caller runs.

// Words, operators (| ; and line ends) and quotes of one command. A word is a list of pieces; {text, quoted}.
function shellTokens(line) {
  const tokens = [];
  let word = null;
  const piece = (text, expands) => { (word = word || []).push({ text: text, expands: expands }); };
  const end = () => { if (word) tokens.push({ word: word }); word = null; };
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (c === "'") {
      const close = line.indexOf("'", i + 1);
      piece(line.slice(i + 1, close), false);
      i = close;
    } else if (c === '"') {
      const close = line.indexOf('"', i + 1);
      piece(line.slice(i + 1, close), true);
      i = close;
    } else if (c === '\\' && line[i + 1] === '\n') {
      end();
      i++;
    } else if (c === '|' || c === ';' || c === '\n') {
      end();
      tokens.push({ op: c === '\n' ? ';' : c });
    } else if (c === ' ') {
      end();
    } else {
      piece(c, c !== '\\');
    }
  }
  end();
  return tokens;
}

const shellFilters = {
  tail(args, text) { return shellEnds(args, text, true); },
  head(args, text) { return shellEnds(args, text, false); },
  sort(args, text) { return shellJoin(shellLines(text).sort()); },
  grep: shellGrep,
  sed: shellSed,
  sh(args, text) {
    if (args[0] === 'columns.sh') return shellColumns(args.slice(1), text);
    if (args[0] === 'by.sh') return shellBy(args[1], args[2], args[3], text);
    throw new Error('sh: only columns.sh and by.sh are here');
  },
  echo(args) { return args.join(' ') + '\n'; },
};

function shellLines(text) {
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  return lines;
}
function shellJoin(lines) { return lines.length ? lines.join('\n') + '\n' : ''; }

function shellEnds(args, text, last) {
  const words = args[0] === '-n' ? args.slice(1) : args;
  const number = (words[0] || '10').replace(/^-/, ''), lines = shellLines(text);
  if (last && number[0] === '+') return shellJoin(lines.slice(parseInt(number.slice(1), 10) - 1));
  const n = parseInt(number, 10);
  return shellJoin(last ? lines.slice(Math.max(lines.length - n, 0)) : lines.slice(0, n));
}

function shellPattern(text) { return new RegExp(text); }

function shellGrep(args, text) {
  let before = 0, after = 0;
  const patterns = [];
  for (let i = 0; i < args.length; i++) {
    const given = /^-([AB])(\d*)$/.exec(args[i]);
    if (given) {
      const n = parseInt(given[2] || args[++i], 10);
      if (given[1] === 'A') after = n; else before = n;
    } else if (args[i] === '-e') patterns.push(shellPattern(args[++i]));
    else patterns.push(shellPattern(args[i]));
  }
  const lines = shellLines(text), kept = new Set();
  lines.forEach((line, at) => {
    if (!patterns.some((pattern) => pattern.test(line))) return;
    for (let i = Math.max(at - before, 0); i <= Math.min(at + after, lines.length - 1); i++) kept.add(i);
  });
  const out = [];
  let past = -1;
  for (const at of [...kept].sort((a, b) => a - b)) {
    if ((before || after) && past >= 0 && at > past + 1) out.push('--');
    out.push(lines[at]);
    past = at;
  }
  return shellJoin(out);
}

// -n with p over ranges of numbers and patterns, and s/a/b/.
function shellSed(args, text) {
  const lines = shellLines(text);
  if (args[0] !== '-n') {
    const parts = /^s\/(.*)\/(.*)\/$/.exec(args[0]);
    return shellJoin(lines.map((line) => line.replace(shellPattern(parts[1]), () => parts[2])));
  }
  const kept = new Set();
  for (const one of args[1].match(/(?:\/(?:[^/])*\/|[^;])+/g)) {
    const parts = /^(\d+|\/[^/]*\/)(?:,(\d+|\$|\/[^/]*\/))?p$/.exec(one.trim());
    const is = (address, line, at) => address[0] === '/' ? shellPattern(address.slice(1, -1)).test(line)
      : at + 1 === (address === '$' ? lines.length : parseInt(address, 10));
    let open = false;
    lines.forEach((line, at) => {
      if (open) {
        kept.add(at);
        if (is(parts[2], line, at)) open = false;
      } else if (is(parts[1], line, at)) {
        kept.add(at);
        open = parts[2] !== undefined && !(/^\d+$/.test(parts[2]) && parseInt(parts[2], 10) <= at + 1);
      }
    });
  }
  return shellJoin(lines.filter((line, at) => kept.has(at)));
}

function shellColumns(names, text) {
  const rows = shellLines(text).map((line) => line.split(','));
  const at = names.map((name) => rows[0].indexOf(name));
  if (at.includes(-1)) return 'no column ' + names[at.indexOf(-1)] + ' in: ' + rows[0].join(',') + '\n';
  const widths = at.map((column, k) => Math.max(names[k].length, ...rows.slice(1).map((row) => row[column].length)));
  return shellJoin(rows.map((row, r) => at.map((column, k) =>
    (r === 0 ? names[k] : row[column]).padStart(widths[k] + (k > 0 ? 2 : 0))).join('')));
}

function shellBy(row, column, value, text) {
  const lines = shellLines(text).map((line) => line.split(',')), heads = lines[0];
  const at = [row, column, value].map((name) => heads.indexOf(name)), rows = [], columns = [], cells = {};
  if (at.includes(-1)) return 'no such columns in: ' + heads.join(',') + '\n';
  for (const line of lines.slice(1)) {
    const r = line[at[0]], c = line[at[1]];
    if (!rows.includes(r)) rows.push(r);
    if (!columns.includes(c)) columns.push(c);
    cells[r + ',' + c] = line[at[2]];
  }
  const put = (words) => words.map((word) => (word || '').padStart(9)).join('');
  return shellJoin([put([row, ...columns]), ...rows.map((r) => put([r, ...columns.map((c) => cells[r + ',' + c])]))]);
}

function shellText(token) { return token && token.word ? token.word.map((piece) => piece.text).join('') : null; }

// Of a block: may it run here? The names of the programs that it calls are known, and what it asks of them.
function shellKnows(line) {
  const tokens = shellTokens(line);
  let first = true;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token.op) { first = true; continue; }
    const text = shellText(token);
    if (/\$\(/.test(token.word.filter((p) => p.expands).map((p) => p.text).join(''))) return false;
    if (!first) continue;
    if (text === 'for') {
      while (i < tokens.length && !tokens[i].op) i++;
      continue;
    }
    if (text === 'do' || text === 'done') continue; // what is behind `do` is a command again
    if (text === 'fanout') {
      if (!['coll', 'bench', 'walk', 'systems'].includes(shellText(tokens[i + 1]))) return false;
    } else if (!(text in shellFilters)) return false;
    else if (text === 'sh' && !['columns.sh', 'by.sh'].includes(shellText(tokens[i + 1]))) return false;
    first = false;
  }
  return true;
}

// Runs a block. fanout(words) gives {code, out, err}, and is waited for. Gives what would be printed.
async function shellRun(line, fanout) {
  const tokens = shellTokens(line), variables = {};
  let at = 0, said = '';
  const known = (whole, name) => name in variables ? variables[name] : whole;
  const expand = (word) => shellText({ word: word }).replace(/\$\{?([a-z_]+)\}?/g, known);
  const peek = () => shellText(tokens[at]);
  const skip = () => { while (tokens[at] && tokens[at].op === ';') at++; };
  async function simple(input) {
    if (peek() === 'for') return loop();
    const words = [];
    while (tokens[at] && tokens[at].word) words.push(expand(tokens[at++].word));
    if (words[0] !== 'fanout') return shellFilters[words[0]](words.slice(1), input);
    const result = await fanout(words.slice(1));
    said += result.err;
    return result.out;
  }
  async function pipeline() {
    let text = await simple('');
    while (tokens[at] && tokens[at].op === '|') {
      at++;
      skip();
      text = await simple(text);
    }
    return text;
  }
  async function loop() {
    at++;
    const name = expand(tokens[at].word);
    at += 2; // the name, in
    const values = [];
    while (tokens[at] && tokens[at].word) values.push(expand(tokens[at++].word));
    skip();
    at++; // do
    const body = at;
    let text = '', end = body;
    for (const value of values) {
      variables[name] = value;
      at = body;
      skip();
      while (peek() !== 'done') {
        text += await pipeline();
        skip();
      }
      end = at;
    }
    at = end + 1;
    return text;
  }
  let text = '';
  for (skip(); at < tokens.length; skip()) text += await pipeline();
  return said + text;
}

if (typeof module !== 'undefined') module.exports = { shellRun: shellRun, shellKnows: shellKnows };
