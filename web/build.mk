# The command for WebAssembly, by emscripten: what `make web` runs. It is a make of its own, since everything is
# compiled by another compiler for another machine. docs/web.md says what is in it and what is not.
#
#   TOP     the source folder        OUT   the build folder (web-build)
#   GLIB, YAJL  sources of Debian's packages, which `./bootstrap web` unpacks there
#   SOURCES the core's, the verbs' and their generated sources, from automake's lists
export EM_CONFIG := $(abspath $(TOP))/web/emscripten.py
export EM_CACHE := $(abspath $(OUT))/cache
export NODE_PATH := /usr/share/nodejs

EMCC = emcc -O2
glib_flags = -I$(OUT)/glib/private -I$(OUT)/glib -I$(GLIB) -I$(GLIB)/glib
# Pragmas of gcc (vectors, loops) mean nothing to this compiler.
flags = -std=gnu11 -D_GNU_SOURCE -DPACKAGE_VERSION=\"$(VERSION)\" -I$(TOP)/web/include -I$(OUT)/glib -I$(GLIB) \
	-I$(GLIB)/glib -I$(OUT)/yajl -I. -I$(TOP) -I$(TOP)/api/include -I$(TOP)/lib/include -DG_LOG_DOMAIN=\"fanout\" \
	-DFO_LIBDIR=\"/usr/lib/fanout\" -DFO_BINDIR=\"/usr/bin\" -DFANOUT_CUDA_VERSION=13050 \
	-Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas

# Of GLib what the core asks for: containers, text, files, options. No main loop, processes, regular expressions or
# variants.
glib_files = garcbox garray gbase64 gbitlock gbytes gcharset gchecksum gconvert gdataset gdate gdatetime gdir \
	genviron gerror \
	gfileutils ghash ghook ghostutils giochannel giounix gkeyfile glib-init glib-private glist gmappedfile gmarkup gmem \
	gmessages gnode goption gpattern gprimes gprintf gqsort gquark gqueue grand grcbox grefcount grefstring gscanner \
	gsequence gshell gslice gslist gstdio gstrfuncs gstring gstringchunk gstrvbuilder gtestutils gthread gthread-posix \
	gthreadpool gasyncqueue gtimer gtimezone gtree gunibreak gunicollate gunidecomp guniprop gutf8 gutils guuid gversion \
	gatomic glib-unix gtranslit
glib_objects = $(glib_files:%=$(OUT)/glib/%.o) $(OUT)/glib/localcharset.o
yajl_objects = $(patsubst $(YAJL)/src/%.c,$(OUT)/yajl/%.o,$(wildcard $(YAJL)/src/*.c))

# The core and four verbs. Not here: other people's traces and PTX, sweeps and tables (they fork), the wire, and what
# needs libraries that are not built for it. What the verbs would call of it is missing at the link, and so told.
core_rooms = sim/%.c model/%.c observe/%.c device/%.c coll/%.c bench/%.c ptx/%.c
core_sources = $(filter-out $(left_out),$(filter $(core_rooms) $(machine_sources) $(verb_sources),\
	$(filter %.c,$(SOURCES))))
machine_sources = $(addprefix machine/,spec.c class.c fail.c error.c machine.c make.c) traces/record/%.c \
	traces/format/reader.c
verb_sources = $(addprefix cli/,bench/% coll/% walk/% live/progress.c live/live.c live/samples.c \
	live/samples_check.c live/limits.c live/monitor/monitor.c live/monitor/args.c live/monitor/status.c \
	reference/% verb/systems.c verb/run.c command.c hints.c hints_value.c hints_word.c options_hint.c \
	interrupt.c machine.c main.c options.c options_check.c run.c system.c words.c)
# SystemC's side, what maps stacks, and windows of several threads.
left_out = sim/engine/stack.c sim/engine/domain.c ptx/read/fatbin.c
core_objects = $(core_sources:%.c=$(OUT)/core/%.o) $(patsubst $(TOP)/%.c,$(OUT)/core/%.o,$(wildcard $(TOP)/web/*.c))

SITE = $(OUT)/site
all: $(SITE)/index.html $(SITE)/fanout.js
.PHONY: all

$(OUT)/glib/glibconfig.h: $(TOP)/web/glib.sh
	sh $(TOP)/web/glib.sh $(GLIB) $(OUT)/glib
	mkdir -p $(OUT)/yajl/yajl && cp $(YAJL)/src/api/*.h $(OUT)/yajl/yajl/
	printf '#define YAJL_%s\n' 'MAJOR 2' 'MINOR 1' 'MICRO 0' 'VERSION 20100' >$(OUT)/yajl/yajl/yajl_version.h
	printf 'extern int yajl_version(void);\n' >>$(OUT)/yajl/yajl/yajl_version.h
	test -d $(EM_CACHE) || { cp -r /usr/share/emscripten/cache $(EM_CACHE) && rm -f $(EM_CACHE)/cache.lock; }

$(OUT)/glib/%.o: $(GLIB)/glib/%.c $(OUT)/glib/glibconfig.h $(TOP)/web/casts.sed
	@echo '  CC       $@'
	sed -f $(TOP)/web/casts.sed $< >$(OUT)/glib/private/$*.c
	$(EMCC) $(glib_flags) -include $(TOP)/web/include/casts.h -DGLIB_COMPILATION -DG_LOG_DOMAIN=\"GLib\" \
	  -DHAVE_CONFIG_H -w -c -o $@ $(OUT)/glib/private/$*.c
$(OUT)/glib/localcharset.o: $(GLIB)/glib/libcharset/localcharset.c $(OUT)/glib/glibconfig.h
	@echo '  CC       $@'
	$(EMCC) $(glib_flags) -DLIBDIR=\"/usr/lib\" -DHAVE_CONFIG_H -w -c -o $@ $<
$(OUT)/yajl/%.o: $(YAJL)/src/%.c $(OUT)/glib/glibconfig.h
	@echo '  CC       $@'
	$(EMCC) -I$(OUT)/yajl -I$(YAJL)/src -w -c -o $@ $<
$(OUT)/core/%.o: $(TOP)/%.c $(OUT)/glib/glibconfig.h
	@echo '  CC       $@'
	@mkdir -p $(@D)
	$(EMCC) $(flags) -MMD -MP -c -o $@ $<
-include $(core_objects:.o=.d)
$(OUT)/core/cli/main.o: flags += -Dmain=fanout_main

# One file that is a function: each run is an instance of its own, as a process would be. The program lies in it as
# text, since a page that is opened from a disk may load scripts and nothing else.
link_flags = -sASYNCIFY=1 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sMODULARIZE=1 -sEXPORT_NAME=Fanout \
	-sSINGLE_FILE=1 \
	-sEXIT_RUNTIME=1 -sINVOKE_RUN=0 -sEXPORTED_RUNTIME_METHODS=callMain,FS -sENVIRONMENT=web,worker,node
$(OUT)/fanout.module.js: $(core_objects) $(glib_objects) $(yajl_objects)
	@echo '  linking, which takes a minute or two'
	$(EMCC) -o $@ $^ $(link_flags)

# What a page loads: the module and the worker's code as the text of a worker.
$(SITE)/fanout.js: $(OUT)/fanout.module.js $(TOP)/web/page/worker.js
	mkdir -p $(SITE)
	$(PYTHON3) -c 'import json, sys; text = "".join(open(name).read() + chr(10) for name in sys.argv[1:]); \
	  print("window.FANOUT_WORKER = " + json.dumps(text) + ";")' $^ >$@
$(SITE)/index.html: $(TOP)/web/labs.py $(TOP)/web/drawn.py $(TOP)/web/slides.py $(TOP)/docs/howto/adopt.md \
  $(wildcard $(TOP)/docs/labs/*.md $(TOP)/docs/labs/instructor/* $(TOP)/web/page/*)
	mkdir -p $(SITE)
	cp $(TOP)/web/page/lab.css $(TOP)/web/page/lab.js $(TOP)/web/page/shell.js $(TOP)/web/page/knobs.js $(SITE)/
	$(PYTHON3) $(TOP)/web/labs.py $(TOP) $(SITE)
	$(PYTHON3) $(TOP)/web/slides.py $(TOP) $(SITE)
