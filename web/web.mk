# `make web`: the simulator as pages for a browser, in web-build/site. It needs emscripten and the sources of GLib and
# yajl, which `./bootstrap web` brings. The compiler and the machine are other ones, so that it is a make of its own.
EXTRA_DIST += web/README.md
EXTRA_DIST += web/build.mk web/casts.sed web/drawn.py web/emscripten.py web/entry.c web/glib.sh web/include/casts.h \
	web/include/cli/verb/verbs.h web/include/config.h web/include/gio/gio.h web/kernel_fiber.c web/labs.py web/left_out.c \
	web/one_domain.c web/page/knobs.js web/page/lab.css web/page/lab.js web/page/shell.js \
	web/page/slides.css web/page/slides.js web/page/worker.js web/resource.c \
	web/run.js web/slides.py web/web.mk web/words.c
WEB_BUILD = $(abs_top_builddir)/web-build
WEB_PYTHON3 = /usr/bin/python3
.PHONY: web
web: $(BUILT_SOURCES)
	@command -v emcc >/dev/null && test -d $(WEB_BUILD)/sources/glib && test -d $(WEB_BUILD)/sources/yajl || { \
	  echo "make web: emscripten or the sources of GLib and yajl are missing; ./bootstrap web brings them"; exit 1; }
	@$(MAKE) -s -f $(srcdir)/web/build.mk TOP=$(srcdir) OUT=$(WEB_BUILD) GLIB=$(WEB_BUILD)/sources/glib \
	  YAJL=$(WEB_BUILD)/sources/yajl VERSION=$(PACKAGE_VERSION) PYTHON3=$(WEB_PYTHON3) \
	  SOURCES="$(libfanout_core_la_SOURCES) $(nodist_libfanout_core_la_SOURCES) $(fanout_SOURCES)"
	@echo "make web: web-build/site/index.html opens in a browser, from the disk"
