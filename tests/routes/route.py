"""Prints the source files of which a function ran between the first entry of BEGIN and the END that follows it.

    route.py SOURCES RECORD BEGIN END [PREFIX-LEFT-OUT ...]

RECORD and a process number are what tests/routes/recorder.c wrote; the first process that ran BEGIN is taken. BEGIN is a
function's name, or its name and "#2" for its second entry, behind "@" if its own thread alone counts. END is a function's name, or its name and "(" for its entry, "-" for the
record's end. Files of the C library, of other
people's libraries and those that a build writes are no part of a route."""
import glob
import os
import re
import struct
import subprocess
import sys


def load(path):
    """The calls in their order: (left, thread, object file, offset in it)."""
    data = open(path, 'rb').read()
    maps = []
    for line in open(path + '.maps'):
        words = line.split()
        if len(words) >= 6 and words[5].startswith('/'):
            low, high = (int(x, 16) for x in words[0].split('-'))
            maps.append((low, high, int(words[2], 16), words[5]))
    places = {}
    calls = []
    for value in struct.unpack('<%dQ' % (len(data) // 8), data):
        address = value & ((1 << 56) - 1)
        if address not in places:
            places[address] = next(((f, address - low + at) for low, high, at, f in maps if low <= address < high), None)
        if places[address]:
            calls.append((value >> 63, value >> 56 & 127) + places[address])
    return calls


def name_all(calls, sources):
    """Function and source file of each (object file, offset). Segments of shared objects lie at the offset + a constant
    that readelf tells; offsets in a file become addresses by it."""
    names = {}
    for file in sorted({f for _, _, f, _ in calls}):
        offsets = sorted({o for _, _, f, o in calls if f == file})
        segments = []
        text = subprocess.run(['readelf', '-lW', file], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            words = line.split()
            if words and words[0] == 'LOAD':
                segments.append((int(words[1], 16), int(words[2], 16), int(words[4], 16)))
        addresses = [next(v + o - at for at, v, size in segments if at <= o < at + size) for o in offsets]
        out = subprocess.run(['addr2line', '-f', '-e', file], input='\n'.join(map(hex, addresses)),
                             capture_output=True, text=True, check=True).stdout.splitlines()
        for i, offset in enumerate(offsets):
            path = os.path.normpath(out[2 * i + 1].rsplit(':', 1)[0])
            path = os.path.relpath(path, sources) if path.startswith(sources + os.sep) else None
            if path and ('.gen.' in path or os.path.basename(path) == 'presets.c'):
                path = None
            names[(file, offset)] = (out[2 * i], path)
    return names


def main():
    sources, record, begin, end = sys.argv[1:5]
    begin, _, nth = begin.partition('#')
    own, begin = begin.startswith('@'), begin.lstrip('@')
    for path in sorted(glob.glob(record + '.*[0-9]')):
        calls = load(path)
        names = name_all(calls, os.path.abspath(sources))
        steps = [(left, thread) + names[(file, offset)] for left, thread, file, offset in calls]
        entries = [i for i, (left, _, name, _) in enumerate(steps) if not left and name == begin]
        if len(entries) >= int(nth or 1):
            first = entries[int(nth or 1) - 1]
            break
    else:
        sys.exit('%s: %s() never ran' % (record, begin))
    if end == '-':
        last = len(steps)
    else:
        entry, name = end.endswith('('), end.rstrip('(')
        last = next((i for i in range(first, len(steps)) if steps[i][0] != entry and steps[i][2] == name), None)
        if last is None:
            sys.exit('%s: after %s() no %s() %s' % (record, begin, name, 'ran' if entry else 'ended'))
    left_out = tuple(sys.argv[5:])
    functions = {(path, name) for left, thread, name, path in steps[first:last + 1]
                 if not left and path and (not own or thread == steps[first][1])
                 and not path.startswith(left_out) and not re.match('g(lib)?_auto', name)}
    for path in sorted({p for p, _ in functions}):
        print(path, ' '.join(sorted(n for p, n in functions if p == path)))


main()
