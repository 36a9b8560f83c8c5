# `make web`: the simulator as pages for a browser, in web-build/site. It needs emscripten and the sources of GLib and yajl,
# which `./bootstrap web` brings. The compiler and the machine are other ones, so that it is a make of its own.
EXTRA_DIST += web
WEB_BUILD = $(abs_top_builddir)/web-build
WEB_PYTHON3 = /usr/bin/python3
.PHONY: web
web: $(BUILT_SOURCES)
	@command -v emcc >/dev/null && test -d $(WEB_BUILD)/sources/glib && test -d $(WEB_BUILD)/sources/yajl || { \
	  echo "make web: emscripten or the sources of GLib and yajl are missing; ./bootstrap web brings them"; exit 1; }
	$(MAKE) -s -f $(srcdir)/web/build.mk TOP=$(srcdir) OUT=$(WEB_BUILD) GLIB=$(WEB_BUILD)/sources/glib \
	  YAJL=$(WEB_BUILD)/sources/yajl VERSION=$(PACKAGE_VERSION) PYTHON3=$(WEB_PYTHON3) \
	  SOURCES="$(libfanout_core_la_SOURCES) $(nodist_libfanout_core_la_SOURCES) $(fanout_SOURCES)"
	@echo "make web: web-build/site/index.html opens in a browser, from the disk"
