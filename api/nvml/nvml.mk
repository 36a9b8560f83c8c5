# api/nvml/: the simulated system as system management sees it: the machine, which the library, the command and the
# topology file share (api/api.mk), and libnvidia-ml.so.1, which asks libcuda.so.1 for it.
pkglib_LTLIBRARIES += libnvidia-ml.la
libnvidia_ml_la_SOURCES = \
	machine/class.c \
	machine/class.h \
	api/cuda/context/machine.h \
	api/nvml/device.c \
	api/nvml/library.c \
	api/nvml/link.c \
	machine/machine.c \
	machine/machine.h \
	api/nvml/nvml.h
nodist_libnvidia_ml_la_SOURCES = api/nvml/symbols.gen.c
# Not as libcuda.la, which libtool would install to the folder that configure named alone.
libnvidia_ml_la_LIBADD = $(GLIB_LIBS)
libnvidia_ml_la_DEPENDENCIES = libcuda.la
libnvidia_ml_la_LDFLAGS = -Wl,.libs/libcuda.so.1 $(FO_SANITIZE) $(FO_LDHARDEN) -version-info 1:0:0 -export-symbols-regex '^nvml'
EXTRA_DIST += api/nvml/symbols.awk api/nvml/symbols.list
api/nvml/symbols.gen.c: $(srcdir)/api/nvml/symbols.awk $(srcdir)/api/nvml/symbols.list
	$(AM_V_GEN)$(MKDIR_P) api/nvml && $(AWK) -f $(srcdir)/api/nvml/symbols.awk \
		$(srcdir)/api/nvml/symbols.list > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += api/nvml/symbols.gen.c
CLEANFILES += api/nvml/symbols.gen.c
