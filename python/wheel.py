"""make wheel: the package fanout-sim as a wheel, from a tree that `make install` filled.

    wheel.py STAGE PREFIX SOURCES OUT      STAGE/PREFIX has bin/fanout, lib/libfanout.so.0, lib/fanout/*.so*

The wheel carries the command, the libraries, and every shared library that they need but for those of the C library and
of the C++ compiler: SystemC, GLib, YAJL, ... Each is found beside what needs it ($ORIGIN), by patchelf. The wheel is
named for the newest symbol of the C library (and of the C++ compiler's) that any of them needs: manylinux_2_35 where it was
built on Debian 12. An
older distribution as build host gives a wheel for older ones. Equal inputs give equal bytes: files in order, with the time
of SOURCE_DATE_EPOCH (1980 where it is not set)."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from typing import Dict, List, Set

# Of every system that a manylinux wheel may meet.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s))\.so\.[0-9]+$")
# Symbols of libstdc++ (GLIBCXX_3.4.N), and the C library of the oldest distribution that has them: Ubuntu 22.04 has 30.
COMPILERS = {29: (2, 34), 30: (2, 35), 31: (2, 37), 32: (2, 38), 33: (2, 39)}
HOOKS = ("libfanout_exit.so", "libfanout_clock.so", "libfanout_wait.so", "libfanout_tray.so", "libfanout_find.so")


def output(*words: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def is_elf(path: str) -> bool:
    with open(path, "rb") as start:
        return start.read(4) == b"\x7fELF"


def needed(path: str, own: Set[str]) -> Dict[str, str]:
    """Shared libraries that it needs, also by others, and where the loader finds them; beside its own."""
    found = {}
    for line in output("ldd", path).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            found[match.group(1)] = match.group(2)
        elif "not found" in line and line.split()[0] not in own:
            sys.exit(f"wheel: {path}: {line.strip()}")
    return found


def collect(stage: str, native: str) -> List[str]:
    """Copies what the wheel carries; the files, which are stripped and find each other."""
    os.makedirs(os.path.join(native, "bin"))
    libraries = os.path.join(native, "lib")
    os.makedirs(libraries)
    shutil.copy(os.path.join(stage, "bin", "fanout"), os.path.join(native, "bin", "fanout"))
    shutil.copy(os.path.join(stage, "lib", "libfanout.so.0"), libraries)
    own = os.path.join(stage, "lib", "fanout")
    for name in sorted(os.listdir(own)):
        if re.match(r".*\.so\.[0-9]+$", name) or name in HOOKS:
            shutil.copy(os.path.join(own, name), libraries)
    seen: Set[str] = set(os.listdir(libraries))
    files = [os.path.join(native, "bin", "fanout")] + [os.path.join(libraries, name) for name in sorted(seen)]
    for path in list(files):
        for name, where in sorted(needed(path, seen).items()):
            if not SYSTEM.match(name) and name not in seen:
                seen.add(name)
                copy = os.path.join(libraries, name)
                shutil.copy(os.path.realpath(where), copy)
                files.append(copy)
    for path in files:
        os.chmod(path, 0o755)
        # The build ID is made of debugging information, too, which has the names of folders.
        subprocess.run(["strip", "--strip-unneeded", "--remove-section=.note.gnu.build-id", path], check=True)
        if os.path.basename(path) != "libfanout_find.so":  # needs none, and no loader may touch it
            place = "$ORIGIN/../lib" if path.endswith("bin/fanout") else "$ORIGIN"
            subprocess.run(["patchelf", "--force-rpath", "--set-rpath", place, path], check=True)
    return files


def platform(files: List[str]) -> str:
    newest = (2, 17)
    for path in files:
        for major, minor in re.findall(r"GLIBC_([0-9]+)\.([0-9]+)", output("objdump", "-T", path)):
            newest = max(newest, (int(major), int(minor)))
        for patch in re.findall(r"GLIBCXX_3\.4\.([0-9]+)", output("objdump", "-T", path)):
            newest = max(newest, COMPILERS.get(int(patch), (2, 17)))
    return f"manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}"


METADATA = """Metadata-Version: 2.1
Name: fanout-sim
Version: {version}
Summary: Simulated GPUs, NVLink and NVSwitch with multicast and reduction in the switch
License: Apache-2.0
Author: The Fanout authors
Requires-Python: >=3.8
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Provides-Extra: parquet
Requires-Dist: pyarrow; extra == "parquet"
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Description-Content-Type: text/markdown

{text}
"""


def write(out: str, root: str, version: str, tag: str) -> str:
    """The wheel of all files below root; its path."""
    info = f"fanout_sim-{version}.dist-info"
    os.makedirs(os.path.join(root, info))
    text = "A simulator of NVLink/NVSwitch fabrics. `fanout --help` is the command, `import fanout` the module."
    files = {"METADATA": METADATA.format(version=version, text=text),
             "WHEEL": f"Wheel-Version: 1.0\nGenerator: fanout\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n",
             "entry_points.txt": "[console_scripts]\nfanout = fanout.places:main\n\n"
                                 "[torch.backends]\nfanout = fanout.torch_autoload:autoload\n"}
    for name, content in files.items():
        with open(os.path.join(root, info, name), "w", encoding="utf-8") as made:
            made.write(content)
    path = os.path.join(out, f"fanout_sim-{version}-py3-none-{tag}.whl")
    stamp = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        names = sorted(os.path.relpath(os.path.join(folder, name), root)
                       for folder, _, names in os.walk(root) for name in names)
        for name in names + [info + "/RECORD"]:
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if name.endswith("/RECORD"):
                content = "".join(line + "\n" for line in record + [name + ",,"]).encode()
            else:
                with open(os.path.join(root, name), "rb") as made:
                    content = made.read()
            executable = content[:4] == b"\x7fELF"
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
    return path


def main() -> None:
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    stage, prefix, sources, out = sys.argv[1:]
    if not shutil.which("patchelf"):
        sys.exit("make wheel: patchelf is not installed; 'pip install patchelf' or 'apt-get install patchelf' brings it")
    root = os.path.join(out, "wheel")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(os.path.join(sources, "python", "fanout"), os.path.join(root, "fanout"),
                    ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "THIRD_PARTY.md"):
        shutil.copy(os.path.join(sources, name), os.path.join(root, "fanout"))
    tree = stage + prefix
    files = collect(tree, os.path.join(root, "fanout", "native"))
    version = output(os.path.join(tree, "bin", "fanout"), "--version").split()[-1]
    path = write(out, root, version, platform(files))
    shutil.rmtree(root)
    print(f"make wheel: {path}, {os.path.getsize(path) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
