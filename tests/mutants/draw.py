"""One-line faults of C sources, drawn from a seed: where a hand could slip, and what it would write there.

A site is a place in one line of code: a constant, a comparison, an operator, the name of a field, an assignment, or a
call whose value is not used. Comments, texts, assertions and messages of errors are no sites. The same seed and the same
sources give the same faults; a room, a kind of site and a site are drawn one after the other, so that small rooms and
rare kinds get their share.
"""
import collections
import pathlib
import random
import re

ROOMS = ('model', 'device', 'ptx', 'api', 'coll', 'traces', 'explore', 'observe', 'machine', 'cli', 'lib', 'validate')
KINDS = ('constant', 'comparison', 'operator', 'field', 'assignment', 'call')

Site = collections.namedtuple('Site', 'file line start end kind')
Fault = collections.namedtuple('Fault', 'file line kind old new')  # old, new: the whole line

NUMBER = re.compile(r'(?<![\w.])(0x[0-9a-fA-F]+|\d+\.\d+|\d+)([uUlL]*)(?![\w.])')
COMPARISON = re.compile(r' (<=|>=|==|!=|<|>) ')
OPERATOR = re.compile(r' (\+|-|\*|/|%|&|\||\^|<<|>>|&&|\|\||\+=|-=|\*=|/=|\|=|&=) |(\+\+|--)(?=[;)])|(!)(?=[A-Za-z_(])')
FIELD = re.compile(r'\b([A-Za-z_]\w*)(?:->|\.)([a-z_]\w*)\b(?!\()')
ASSIGNMENT = re.compile(r'^( +)(?:[\w*>.\[\]()+ -]*(?:->|\.|\])[\w\]]* (?:[-+*/|&^]|<<|>>)?= [^=].*|[\w>.\[\]-]+(?:\+\+|--));$')
INITIALISER = re.compile(r'(?<=[{ ])(\.[a-z_]\w* = [\w>.&-]+), ')
CALL = re.compile(r'^( +)[a-z]\w*\(.*\);$')
DEFINED = re.compile(r'^#define \w+ ')

# Lines on which a fault changes no answer: messages, assertions, what is given back, sizes of a text's buffer.
QUIET = re.compile(r'\bg_assert|assert\(|g_set_error|_error\(|g_warning|g_free|_free\(|_unref\(|g_clear|G_DEFINE'
                   r'|\bchar \w+\[|return FALSE; /\*|G_GNUC')
QUIET_CALL = re.compile(r'^ +(g_\w*free|\w*(free|unref|clear|destroy|close|lock|unlock|reserve|prefetch)\w*)\(')

SWAPS = {
    '<': ('<=', '>'), '<=': ('<', '>'), '>': ('>=', '<'), '>=': ('>', '<'), '==': ('!=',), '!=': ('==',),
    '+': ('-',), '-': ('+',), '*': ('/', '+'), '/': ('*',), '%': ('/',), '&': ('|',), '|': ('&',), '^': ('|',),
    '<<': ('>>',), '>>': ('<<',), '&&': ('||',), '||': ('&&',), '+=': ('-=', '='), '-=': ('+=',), '*=': ('/=',),
    '/=': ('*=',), '|=': ('&=', '='), '&=': ('|=',), '++': ('--',), '--': ('++',), '!': ('',),
}


def masked(text):
    """The text with comments, texts and characters blanked, line for line and column for column."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r'[^\n]', ' ' if m.group()[0] == '/' else '"', m.group()), text)


def code_lines(text):
    """(number, line, whether it defines a constant) of what may be changed: no other directive, no message."""
    directive = quiet = False
    for number, line in enumerate(masked(text).split('\n'), 1):
        defines = bool(DEFINED.match(line)) and not line.endswith('\\')
        skip = directive or quiet or (line.startswith('#') and not defines) or QUIET.search(line)
        if line.startswith('#') or directive:
            directive = line.endswith('\\')
        elif QUIET.search(line) or quiet:  # to the end of its statement
            quiet = not line.rstrip().endswith((';', '{', '}'))
        if not skip:
            yield number, line, defines


def sites_of(file, text):
    """All sites of one file, in order."""
    for number, line, defines in code_lines(text):
        for m in NUMBER.finditer(line):
            yield Site(file, number, m.start(), m.end(), 'constant')
        if defines:
            continue
        for m in COMPARISON.finditer(line):
            yield Site(file, number, m.start(1), m.end(1), 'comparison')
        for m in OPERATOR.finditer(line):
            at = next(i for i in (1, 2, 3) if m.group(i))
            yield Site(file, number, m.start(at), m.end(at), 'operator')
        for m in FIELD.finditer(line):
            yield Site(file, number, m.start(2), m.end(2), 'field')
        for m in INITIALISER.finditer(line):
            yield Site(file, number, m.start(), m.end(), 'assignment')
        m = ASSIGNMENT.match(line)
        if m:
            yield Site(file, number, m.end(1), len(line), 'assignment')
        m = CALL.match(line)
        if m and not QUIET_CALL.match(line):
            yield Site(file, number, m.end(1), len(line), 'call')


def other_number(random_, text):
    m = NUMBER.match(text)
    number, suffix = m.group(1), m.group(2)
    if '.' in number:
        return repr(float(number) * random_.choice((2, 0.5, 0.1)) + (0.5 if float(number) == 0 else 0))
    value = int(number, 0)
    new = random_.choice({0: (1,), 1: (0, 2)}.get(value, (value + 1, value - 1, value * 2, value // 2)))
    return (hex(new) if number.startswith('0x') else str(new)) + suffix


def other_field(random_, text, line, site):
    """Another field that the file takes of something of that name, of the same unit where there is one."""
    m = next(m for m in FIELD.finditer(line) if m.start(2) == site.start)
    base, name = m.groups()
    names = sorted({n for b, n in FIELD.findall(masked(text)) if b == base and n != name})
    unit = name.rsplit('_', 1)[-1]
    alike = [n for n in names if '_' in name and n.rsplit('_', 1)[-1] == unit]
    return random_.choice(alike or names) if names else None


def fault_at(random_, text, site):
    """The fault that is drawn for a site, or None where there is none to write."""
    lines = text.split('\n')
    line, code = lines[site.line - 1], masked(text).split('\n')[site.line - 1]
    part = code[site.start:site.end]
    if site.kind == 'constant':
        new = other_number(random_, part)
    elif site.kind in ('comparison', 'operator'):
        new = random_.choice(SWAPS[part])
    elif site.kind == 'field':
        new = other_field(random_, text, code, site)
    else:
        new = '' if part.endswith(', ') else ';'
    if new is None or new == part:
        return None
    changed = line[:site.start] + new + line[site.end:]
    return Fault(site.file, site.line, site.kind, line, changed)


def draw(folder, seed, rooms=ROOMS, files=None):
    """Faults without end, none twice."""
    texts, sites = {}, collections.defaultdict(list)
    for room in rooms:
        for path in sorted(pathlib.Path(folder, room).rglob('*.c')):
            file = str(path.relative_to(folder))
            if '.gen.' in file or '.pb-c.' in file or file == 'model/presets/presets.c' or (files and file not in files):
                continue
            texts[file] = path.read_text()
            for site in sites_of(file, texts[file]):
                sites[room, site.kind].append(site)
    random_ = random.Random(seed)
    seen = set()
    while True:
        of = sites[random_.choice(rooms), random_.choice(KINDS)]
        if not of:
            continue
        site = random_.choice(of)
        fault = fault_at(random_, texts[site.file], site)
        if fault and fault not in seen:
            seen.add(fault)
            yield fault
