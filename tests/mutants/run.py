#!/usr/bin/env python3
"""Do the tests notice? Draws one-line faults (draw.py), plants them one after the other in a copy of the sources, builds
what changed, runs the tests of its room until one fails, and prints who noticed.

  run.py SOURCES FOLDER [--seed N] [--count N] [--seconds N] [--rooms ROOM,...] [--again] [--faults FILE]

FOLDER is a copy of SOURCES that is configured; what differs from SOURCES is copied anew first. Each test is run once
without a fault beside what notes which functions are entered (reach.c; FOLDER-reach keeps it), so that a fault costs
only the tests that enter its function. What was found is kept in FOLDER-SEED.log, a line a fault, and a later call goes
on behind it: --seconds ends a piece, also of these first runs. --again tries those that nothing noticed once more,
after a test was added (remove the test's file in FOLDER-reach where it enters other functions now). --faults takes
faults from a file (list, beside this) instead of drawing. --budget: the tests of a fault take at most so many seconds
of the processor, by what they took without it. A fault whose object code is what it was changes nothing and is not
counted; nor are those of the file `equivalent`, each with its reason. A fault of which no test fails wants a test.
"""
import argparse
import contextlib
import filecmp
import itertools
import mmap
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

import draw

HERE = pathlib.Path(__file__).resolve().parent
LEAST_PERCENT = 90

# The accuracy of the whole would notice much, and tell little; style, documents and what is installed have no times, and
# the rest takes long or needs what is not in the copy.
NEVER = ('style/*', 'install/*', 'docs/*', 'routes/*', 'clients/*', 'determinism/*', 'validate/test_validate.sh',
         'validate/test_fidelity.sh', 'api/test_cuda_bindings.sh', 'wire/test_death.sh')
EXACT = ('golden/rows.sh', 'golden/golden.sh', 'api/test_report_rows.sh')  # see much, as do those of a fault's room:
OF_EXACT = 4  # their turn comes as if they took a fourth
QUICK = 0.3  # seconds

PRINT = """include Makefile
print-for-mutants:
	@echo core $(libfanout_core_la_OBJECTS)
	@echo cuda $(libcuda_la_OBJECTS)
	@echo explore $(libfanout_explore_la_OBJECTS)
	@echo command $(fanout_OBJECTS)
	@echo library $(libfanout_la_OBJECTS)
	@echo compile $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(SQLITE_CFLAGS) $(MPI_CFLAGS) \
	  $(AM_CFLAGS) $(CFLAGS) -fPIC -DPIC -c
	@echo link $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS)
	@echo libs $(libfanout_core_la_LIBADD) $(SQLITE_LIBS) $(MPI_LIBS) -ldl
	@echo tests $(TESTS)
	@echo built $(BUILT_SOURCES)
	@echo hooks $(filter libfanout_%,$(pkglib_LTLIBRARIES))
"""
COPIED = ('.c', '.h', '.sh', '.mk', '.ini', '.py', '.expected', '.args', '.recorded', '.list', '.trace')
CORE = '.libs/libmutant.so'
OF_CUDA = 'api/cuda/first_versions.lo'  # of the core's archive, for libcuda alone: it calls what is only there
FOREIGN = ('bench/', 'coll/', 'device/', 'explore/', 'golden/', 'model/', 'observe/', 'ptx/', 'random/', 'sim/', 'traces/',
           'validate/')  # tests that have nothing to do with libcuda
FUNCTIONS = 'functions'  # all that could be entered
MARK = 'mutants.lo'  # names the object that has a fault
LATE = -1000  # no exit status
LINES = '-Wl,-S'  # nobody but what finds functions looks at lines: half of a link's time


@contextlib.contextmanager
def as_old(*paths):
    """What is changed and put back, or changed for links alone, keeps its time: make would do its work anew."""
    times = [(path, path.stat()) for path in paths]
    try:
        yield
    finally:
        for path, was in times:
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def expose(path):
    """Makes the hidden symbols of an object of x86-64 visible, as those of a library are: what the ordinary build made
    of the core, hidden since it is part of others, can be linked into one of its own."""
    with as_old(path), open(path, 'r+b') as file, mmap.mmap(file.fileno(), 0) as code:
        at, = struct.unpack_from('<Q', code, 0x28)
        size, count = struct.unpack_from('<HH', code, 0x3a)
        for section in range(at, at + size * count, size):
            kind, = struct.unpack_from('<I', code, section + 4)
            if kind == 2:  # symbols
                begin, length = struct.unpack_from('<QQ', code, section + 24)
                for symbol in range(begin, begin + length, 24):
                    info, other, index = struct.unpack_from('<BBH', code, symbol + 4)
                    if info >> 4 == 1 and other & 3 == 2 and index:  # global, hidden, defined
                        code[symbol + 5] = other & ~3


def processor_seconds(session):
    """What the processes of a session, and those that they waited for, had of the processor."""
    ticks = 0
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            after_name = path.read_text().rpartition(')')[2].split()
        except OSError:  # it has ended
            continue
        if int(after_name[3]) == session:
            ticks += sum(int(after_name[i]) for i in range(11, 15))
    return ticks / os.sysconf('SC_CLK_TCK')


def share_weight(pid):
    """Linux gives each session a share of the processor of its own: a test's is weighed as this one's."""
    try:
        own = pathlib.Path('/proc/self/autogroup').read_text().split()[-1]
        pathlib.Path(f'/proc/{pid}/autogroup').write_text(own)
    except OSError:  # none, it has ended, or it is not allowed
        pass


class Tree:
    """A built copy, whose core is a shared library: a fault costs one compilation and one link."""

    def __init__(self, sources, folder):
        self.sources, self.folder = pathlib.Path(sources).resolve(), pathlib.Path(folder).resolve()
        self.env = dict(os.environ, FANOUT=str(self.folder / 'fanout'), TOP_SRCDIR=str(self.folder), SANITIZE='no',
                        CC=os.environ.get('CC', 'cc'), MAKEFLAGS='')
        self.env.setdefault('FANOUT_SHARED', str(self.sources.parent / 'shared'))
        self.stale, self.needs = set(), set()  # of what is linked: what has a fault in it; what is not linked yet

    def call(self, *command):
        run = subprocess.run(command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        return run.returncode == 0, run.stdout

    def make(self, *what):
        good, said = self.call('make', '-s', '-j2', *what)
        if not good:
            sys.exit(f'make {" ".join(what)} failed:\n{said[-3000:]}')

    def refresh(self):
        """What differs from the sources is taken from them; what is new needs a new copy."""
        for path in self.folder.rglob('*'):
            source = self.sources / path.relative_to(self.folder)
            if path.suffix in COPIED and \
                    path.is_file() and source.is_file() and '.gen.' not in path.name and \
                    not filecmp.cmp(path, source, shallow=False):
                shutil.copyfile(source, path)
        for source in (self.sources / 'tests').rglob('*'):
            path = self.folder / source.relative_to(self.sources)
            if source.suffix in COPIED and path.parent.is_dir() and not path.exists():
                shutil.copy(source, path)

    def build(self):
        (self.folder / 'mutants.mk').write_text(PRINT)
        script = self.folder / '.libs' / 'libfanout_core.a'
        self.make('Makefile')
        _, out = self.call('make', '-s', '-f', 'mutants.mk', 'print-for-mutants')
        said = dict(line.split(' ', 1) for line in out.splitlines() if ' ' in line)
        self.make(*said['built'].split())
        self.make(*said['hooks'].split())
        self.make('libfanout_core.la')
        self.tests = [t[len('tests/'):] for t in said['tests'].split() if t.startswith('tests/')]
        self.compile = said['compile'].split() + ['-g0', '-fvisibility=default', '-fno-semantic-interposition']
        self.core, cuda, explore, command, library = (
            said[k].split() for k in ('core', 'cuda', 'explore', 'command', 'library'))
        self.core.remove(OF_CUDA)
        cuda.append(OF_CUDA)
        objects = [[self.object(lo) for lo in list_] for list_ in (self.core, cuda, explore, library)]
        quick = next((f'-fuse-ld={name}' for name in ('mold', 'lld', 'gold') if shutil.which(f'ld.{name}')), None)
        link, libs, core = [*said['link'].split(), LINES], said['libs'].split(), [str(self.folder / CORE)]
        link += [quick] if quick else []
        self.links = {
            'core': [*link, '-shared', '-Wl,-Bsymbolic', '-o', CORE, *objects[0], *libs],
            'cuda': [*link, '-shared', '-Wl,-Bsymbolic', '-Wl,-soname,libcuda.so.1', '-o', '.libs/libcuda.so.1.0.0',
                     *objects[0], *objects[1], *libs],
            'library': [*link, '-shared', '-Wl,-soname,libfanout.so.0', '-Wl,--version-script=lib/fanout.map', '-o',
                        '.libs/libfanout.so.0.0.0', *objects[3], *core, *libs],
            'fanout': [*link, '-o', 'fanout', *command, *objects[2], *core, *libs],
            'test': [*link, '-o', 'tests/explore/test_explore', 'tests/explore/test_explore.o', *objects[2], *core, *libs,
                     '-lcmocka'],
        }
        self.whole = {'core': set(self.core), 'cuda': {*self.core, *cuda}, 'library': set(library),
                      'fanout': {*command, *explore}, 'test': set(explore)}
        self.mend()
        for lo in self.core:
            expose(self.folder / self.object(lo))
        self.link('core')
        script.write_text(f'INPUT({self.folder}/{CORE})\n')
        programs = [f'tests/{t}' for t in self.tests if not t.endswith('.sh')]
        self.make('-o', 'libfanout_core.la', 'libcuda.la')
        self.link('cuda')
        self.call('make', '-s', '-k', '-j2', '-o', 'libfanout_core.la', '-o', 'libcuda.la', 'all', *programs)
        self.link(*self.links)

    @staticmethod
    def object(lo):
        path = pathlib.PurePath(lo)
        return lo if path.suffix == '.o' else str(path.parent / '.libs' / (path.stem + '.o'))

    def link(self, *names, links=None):
        for name in names:
            good, said = self.call(*(links or self.links)[name])
            if not good:
                print(said[-2000:], file=sys.stderr)
                return False
        return True

    def objects_of(self, file):
        """The objects that are made of a source file: of the core, or of the libraries beside it."""
        lo, (folder, stem) = file[:-2] + '.lo', os.path.split(file[:-2])
        every = set().union(*self.whole.values())
        return [o for o in (lo, f'{folder}/libfanout_explore_la-{stem}.lo', file[:-2] + '.o') if o in every]

    def compiled(self, file, lo):
        """The object code, and whether it could be made."""
        good, said = self.call(*self.compile, file, '-o', 'mutant.o')
        return (self.folder / 'mutant.o').read_bytes() if good else None

    def mend(self):
        """Makes the object anew in which a run that was killed left its fault."""
        mark = self.folder / MARK
        if mark.exists():
            lo = mark.read_text()
            (self.folder / lo).unlink(missing_ok=True)
            self.make(lo)
            mark.unlink()

    def take(self, lo, code):
        """Puts object code in its place, links what has it, and what had a fault before."""
        (self.folder / MARK).write_text(lo)
        (self.folder / self.object(lo)).write_bytes(code)
        has = {name for name, whole in self.whole.items() if lo in whole}
        self.needs = has | self.stale
        self.stale = has
        return self.link(*[name for name in self.links if name in self.needs - {'cuda'}])

    def prepare(self, test):
        """Links libcuda where a test is of programs; most are not."""
        if 'cuda' in self.needs and not test.startswith(FOREIGN):
            self.needs.remove('cuda')
            return self.link('cuda')
        return True

    def links_of_reach(self):
        """The links of what notes which functions ran (reach.c), to the same places."""
        links = {}
        for name, command in self.links.items():
            own = f'.libs/reach-{name}.o'
            good, said = self.call(*self.compile, f'-DREACH_NAME="{name}"', 'tests/mutants/reach.c', '-o', own)
            if not good:
                sys.exit(f'tests/mutants/reach.c: {said[-3000:]}')
            links[name] = [*(word for word in command if word != LINES), own]
        return links

    def own_name(self, file):
        """A source's name in the folder: a cache of compilations may have taken the object from a copy beside it."""
        parts = pathlib.PurePath(file).parts
        names = ('/'.join(parts[i:]) for i in range(len(parts)))
        return next((n for n in names if not n.startswith(('/', '..')) and (self.folder / n).is_file()), file)

    def functions(self, links):
        """Of each library that notes: by the offset of a function in it, the file and line where it begins."""
        found = {}
        for name, command in links.items():
            out = command[command.index('-o') + 1]
            _, said = self.call('nm', '--defined-only', out)
            at = sorted({line.split()[0] for line in said.splitlines() if line.split()[1:2] in (['t'], ['T'])})
            run = subprocess.run(['addr2line', '-e', out], cwd=self.folder, input='\n'.join(at), text=True, check=True,
                                 stdout=subprocess.PIPE)
            found[name] = {}
            for offset, line in zip(at, run.stdout.split('\n')):
                file, _, number = line.split(' ')[0].rpartition(':')
                file = self.own_name(file)
                if file.endswith('.c') and number.isdigit() and not file.startswith('tests/mutants/'):
                    found[name][int(offset, 16)] = f'{file}:{number}'
            listed = bytearray(max(found[name]) + 1)
            for offset in found[name]:
                listed[offset] = 1
            (self.folder / f'reach-at.{name}').write_bytes(listed)
        return found

    def reached(self, functions):
        """The functions that were entered since this was asked last."""
        found = set()
        for name, of in functions.items():
            path = self.folder / f'reach.{name}'
            if path.exists():
                with path.open('rb') as file:
                    code = file.read(max(of) + 1)  # holes follow
                found.update(where for offset, where in of.items() if offset < len(code) and code[offset])
                path.unlink()
        return found

    def run_test(self, test, limit):
        """(passed or None for skipped, seconds of the processor): other jobs may share the machine."""
        path = f'tests/{test}'
        if not (self.folder / path).exists():  # was not built
            return None, 0
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ['sh', path] if test.endswith('.sh') else [path]
        with open(self.folder / 'mutants.out', 'wb') as out:
            process = subprocess.Popen(command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            share_weight(process.pid)
            spent, code, ends = 0.0, None, time.monotonic() + 3 * limit * max(1.0, os.getloadavg()[0])
            while code is None:
                try:
                    code = process.wait(0.5)
                except subprocess.TimeoutExpired:
                    spent = max(spent, processor_seconds(process.pid))
                    if spent > limit or time.monotonic() > ends:
                        code = LATE
            try:  # what it left behind
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.late = code == LATE
        return (None if code == 77 else code == 0), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wanted_tests(tree):
    return sorted(t for t in tree.tests if not any(pathlib.PurePath(t).match(p) for p in NEVER))


class Tests:
    """What each test takes without a fault, and which functions it enters: found once, with all of them."""

    def __init__(self, tree, slowest, ends):
        self.seconds, self.of_function, self.of_file = {}, {}, {}
        folder = tree.folder.with_name(tree.folder.name + '-reach')
        folder.mkdir(exist_ok=True)
        missing = [t for t in wanted_tests(tree) if not (folder / t.replace('/', ':')).exists()]
        missing.sort(key=lambda t: (t.endswith('.sh'), t))  # programs are quick
        if missing:
            links = tree.links_of_reach()
            tree.link(*links, links=links)
            functions = tree.functions(links)
            (folder / FUNCTIONS).write_text('\n'.join(sorted(set().union(*(f.values() for f in functions.values())))))
            tree.env.update(REACH_OUT=str(tree.folder / 'reach'), REACH_AT=str(tree.folder / 'reach-at'))
            for test in missing:
                if time.monotonic() > ends:
                    sys.exit('to be continued: run it again')
                tree.reached(functions)
                passed, took = tree.run_test(test, slowest)
                if not passed:
                    took = -1
                    print(f'left out: {test} ({"skipped" if passed is None else "fails or takes long"})', flush=True)
                lines = [f'{took:.2f}', *sorted(tree.reached(functions))]
                (folder / test.replace('/', ':')).write_text('\n'.join(lines) + '\n')
            del tree.env['REACH_OUT'], tree.env['REACH_AT']
            tree.link(*tree.links)
        self.functions = set((folder / FUNCTIONS).read_text().split())
        for test in wanted_tests(tree):
            took, *lines = (folder / test.replace('/', ':')).read_text().splitlines()
            if float(took) >= 0:
                self.seconds[test] = float(took)
                for where in lines:
                    self.of_function.setdefault(where, set()).add(test)
                    self.of_file.setdefault(where.rpartition(':')[0], set()).add(test)

    def of(self, file, text, line):
        """Those that enter the function around a line, or anything of the file where it is in none, in their order."""
        lines = text.split('\n')
        ends = next((i for i in range(line - 1, len(lines)) if lines[i].startswith('}')), len(lines))
        begins = max((i for i in range(ends) if lines[i] == '{'), default=-1)
        previous = max((i for i in range(line - 1) if lines[i].startswith('}')), default=-1)
        if previous < begins < line:  # its name stands before its brace; where both are on one line it begins there
            starts = range(previous + 2, begins + 3)
        else:
            starts = [line]
        found = set().union(*(self.of_function.get(f'{file}:{i}', set()) for i in starts))
        if not any(f'{file}:{i}' in self.functions for i in starts):  # in none, or in one that stands in its callers
            found = self.of_file.get(file, set())
        room = file.split('/', maxsplit=1)[0] + '/'

        def order(test):
            quick, own, took = self.seconds[test] < QUICK, test.startswith(room), self.seconds[test]
            return 0 if quick and own else 1, took / (OF_EXACT if test in EXACT or own else 1), test
        return sorted(found, key=order)


def plant(tree, fault, tests, budget):
    """What came of one fault, and who noticed."""
    objects = tree.objects_of(fault.file)
    if not objects:
        return 'build', 'no object of the libraries'
    path, built = tree.folder / fault.file, tree.folder / tree.object(objects[0])
    with as_old(path, built):
        return try_out(tree, fault, tests, budget, objects[0])


def try_out(tree, fault, tests, budget, lo):
    path = tree.folder / fault.file
    text, whole = path.read_text(), (tree.folder / tree.object(lo)).read_bytes()
    lines = text.split('\n')
    lines[fault.line - 1] = fault.new
    try:
        path.write_text('\n'.join(lines))
        code = tree.compiled(fault.file, lo)
        if code is None:
            return 'build', ''
        if not tree.take(lo, code):
            return 'build', 'does not link'
        spent, done, which = 0, 0, tests.of(fault.file, text, fault.line)
        for test in which:
            if spent + tests.seconds[test] > budget:
                continue  # a quicker one may have its turn yet
            spent += tests.seconds[test]
            if not tree.prepare(test):
                return 'build', 'does not link'
            passed, _ = tree.run_test(test, 4 + 4 * tests.seconds[test])
            if passed is False:
                return 'noticed', f'{test} (late)' if tree.late else test
            done += 1
        path.write_text(text)
        equal = code == tree.compiled(fault.file, lo)
        return ('equal', '') if equal else ('SURVIVED', f'{done} of {len(which)} tests')
    finally:
        path.write_text(text)
        (tree.folder / tree.object(lo)).write_bytes(whole)
        (tree.folder / MARK).unlink(missing_ok=True)


def faults_of_file(tree, path):
    """Those of a list: file, old and new text, with tabs between. The old text stands there once."""
    for line in path.read_text().splitlines():
        if not line or line.startswith('#'):
            continue
        file, old, new = line.split('\t')
        text = (tree.folder / file).read_text()
        if text.count(old) != 1:
            sys.exit(f'{file} has "{old}" {text.count(old)} times')
        number = text[:text.index(old)].count('\n') + 1
        whole = text.split('\n')[number - 1]
        yield draw.Fault(file, number, 'listed', whole, whole.replace(old, new))


def reasons():
    """Equivalent faults by (file, old line, new line)."""
    found = {}
    path = HERE / 'equivalent'
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith('#'):
            file, old, new, reason = line.split('\t')
            found[file, old, new] = reason
    return found


def faults_of_seed(tree, path, seed, rooms, count):
    """Those of a seed, as they were drawn when it began: the sources may have been mended since. What stands there no
    more is left out."""
    if not path.exists():
        drawn = itertools.islice(draw.draw(tree.folder, seed, rooms), 2 * count)
        path.write_text(''.join('\t'.join([f.file, str(f.line), f.kind, f.old, f.new]) + '\n' for f in drawn))
    for line in path.read_text().splitlines():
        file, number, kind, old, new = line.split('\t')
        text = tree.folder / file
        lines = text.read_text().split('\n') if text.exists() else []
        at = [i for i, there in enumerate(lines, 1) if there == old]
        if int(number) in at or len(at) == 1:
            yield draw.Fault(file, int(number) if int(number) in at else at[0], kind, old, new)


def outcome(tree, fault, known, tests, budget):
    reason = known.get((fault.file, fault.old.strip(), fault.new.strip()))
    return ('equivalent', reason) if reason else plant(tree, fault, tests, budget)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('sources')
    parser.add_argument('folder')
    parser.add_argument('--seed', default='1')
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--seconds', type=float, default=1e9)
    parser.add_argument('--rooms', default=','.join(draw.ROOMS))
    parser.add_argument('--faults', type=pathlib.Path)
    parser.add_argument('--slowest', type=float, default=40, help='seconds of the processor that a test may take')
    parser.add_argument('--budget', type=float, default=120, help='seconds of tests for a fault')
    parser.add_argument('--again', action='store_true')
    args = parser.parse_args()
    ends = time.monotonic() + args.seconds

    tree = Tree(args.sources, args.folder)
    tree.refresh()
    tree.build()
    tests = Tests(tree, args.slowest, ends)
    log = tree.folder.with_name(f'{tree.folder.name}-{"listed" if args.faults else args.seed}.log')
    done = [line.split('\t') for line in log.read_text().splitlines()] if log.exists() else []
    if args.again:
        done = [d for d in done if d[0] != 'SURVIVED']
    results = {tuple(d[2:]): d[:2] for d in done}
    known = reasons()
    drawn = faults_of_file(tree, args.faults) if args.faults else \
        faults_of_seed(tree, log.with_suffix('.drawn'), args.seed, args.rooms.split(','), args.count)
    score = dict.fromkeys(('noticed', 'SURVIVED', 'equivalent', 'equal', 'build'), 0)
    survivors = []
    for fault in drawn:
        if score['noticed'] + score['SURVIVED'] >= args.count:
            break
        where = f'{fault.file}:{fault.line}'
        key = (fault.file, fault.kind, fault.old.strip(), fault.new.strip())
        if key not in results:
            if time.monotonic() > ends:
                print('to be continued: run it again')
                break
            began = time.monotonic()
            results[key] = outcome(tree, fault, known, tests, args.budget)
            done.append([*results[key], *key])
            log.write_text(''.join('\t'.join(d) + '\n' for d in done))
            took = time.monotonic() - began
            print(f'{where}: {results[key][0]} {results[key][1]} ({took:.0f} s)\n  - {key[2]}\n  + {key[3]}', flush=True)
        score[results[key][0]] += 1
        if results[key][0] == 'SURVIVED':
            survivors.append(key)
    for where, _, old, new in survivors:
        print(f'NOT NOTICED {where}\n  - {old}\n  + {new}')
    tried = score['noticed'] + score['SURVIVED']
    print(f'{score["noticed"]} of {tried} faults noticed; {score["equivalent"]} are equivalent, {score["equal"]} made the '
          f'same code, {score["build"]} did not build')
    sys.exit(0 if score['noticed'] * 100 >= tried * LEAST_PERCENT else 1)


if __name__ == '__main__':
    main()
