// The command under node, as the native one would be called: node run.js FOLDER ARG... FOLDER has fanout.module.js.
// Files that it writes come into the current folder. For tests.
const fs = require('fs'), path = require('path'), vm = require('vm');
const folder = process.argv[2];
globalThis.Fanout = require(path.resolve(folder, 'fanout.module.js'));
vm.runInThisContext(fs.readFileSync(path.join(__dirname, 'page/worker.js'), 'utf8'));
const files = {};
for (const name of fs.readdirSync('.')) if (/\.ini$/.test(name)) files[name] = fs.readFileSync(name, 'utf8');
fanoutRun(process.argv.slice(3), files).then((result) => {
  fs.writeSync(1, result.out);
  fs.writeSync(2, result.err);
  for (const name in result.files) fs.writeFileSync(name, result.files[name]);
  process.exitCode = result.code;
});
