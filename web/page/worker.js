// Compiled once: what the browser has found out of the program, which functions are worth a second look, stays from run
// to run; only its memory is fresh.
const instantiateFresh = WebAssembly.instantiate;
let compiled = null;
WebAssembly.instantiate = async (bytes, imports) => {
  compiled = compiled || WebAssembly.compile(bytes);
  const module = await compiled;
  return { module: module, instance: await instantiateFresh(module, imports) };
};

// Runs one command line in a fresh instance of the simulator: what a process would be. Used by the pages' worker and,
// under node, by web/run.js, so that both see the same bytes. Needs Fanout, the module that emscripten made. args:
// words behind `fanout`; files: {name: text} that lie there. Gives {code, out, err, files}.
async function fanoutRun(args, files, hears) {
  const out = [], err = [];
  let code = null;
  const bytes = (list) => (value) => { if (value !== null) list.push(value < 0 ? value + 256 : value); };
  const heard = (value) => {
    bytes(err)(value);
    if (hears && value === 10) hears(text(err));
  };
  const text = (list) => new TextDecoder().decode(new Uint8Array(list));
  const module = await Fanout({
    noInitialRun: true,
    thisProgram: 'fanout',
    preRun: [(made) => made.FS.init(() => null, bytes(out), heard)],
    quit: (status, thrown) => { code = status; throw thrown; },
  });
  for (const name in files) module.FS.writeFile(name, files[name]);
  try {
    module.callMain(args);
  } catch (thrown) {
    if (code === null) {
      err.push(...new TextEncoder().encode('fanout: ended: ' + thrown + '\n'));
      code = 134;
    }
  }
  const made = {};
  for (const name of module.FS.readdir('/')) {
    const path = '/' + name;
    if (module.FS.isFile(module.FS.stat(path).mode)) made[name] = module.FS.readFile(path);
  }
  return { code: code, out: text(out), err: text(err), files: made };
}

if (typeof importScripts === 'function') {
  onmessage = async (event) => {
    const { id, args, files } = event.data;
    const result = await fanoutRun(args, files, (said) => postMessage({ id: id, said: said }));
    postMessage({ id: id, result: result });
  };
}
