# How emscripten is set up for `make web`: as Debian sets it up, but with a cache of the build folder's own, since the
# system's cannot be written and lacks libraries.
EMSCRIPTEN_ROOT = '/usr/share/emscripten'
LLVM_ROOT = '/usr/bin'
BINARYEN_ROOT = '/usr'
NODE_JS = ['/usr/bin/node', '--no-experimental-fetch']
FROZEN_CACHE = False
