# api/cudart/: what programs expect beside the driver, of our own: the runtime library, the linker at run time, and a
# stand-in for the assembler.
# Built by plain rules, since two of a name with different numbers behind ".so." are more than libtool has in one
# folder.
runtimedir = $(pkglibdir)
runtime_DATA = api/cudart/libcudart.so.12 api/cudart/libcudart.so.13 api/cudart/libnvJitLink.so.12 api/cudart/libnvJitLink.so.13
runtime_SCRIPTS = api/cudart/fanout-ptxas
CUDART = $(srcdir)/api/cudart/attribute.c $(srcdir)/api/cudart/device.c $(srcdir)/api/cudart/errors.c $(srcdir)/api/cudart/graph.c $(srcdir)/api/cudart/memory.c \
	$(srcdir)/api/cudart/per_thread.c $(srcdir)/api/cudart/pitched.c $(srcdir)/api/cudart/register.c $(srcdir)/api/cudart/stream.c
EXTRA_DIST += api/cudart/attribute.c api/cudart/cudart_12.map api/cudart/cudart_13.map api/cudart/device.c api/cudart/errors.c api/cudart/device_fields.h \
	api/cudart/entries.awk api/cudart/entries.list api/cudart/graph.c api/cudart/memory.c api/cudart/per_thread.c api/cudart/pitched.c \
	api/cudart/register.c api/cudart/runtime.h api/cudart/stream.c api/cudart/v12.c api/cudart/fanout-ptxas.in api/cudart/nvjitlink.c api/cudart/nvjitlink_12.map \
	api/cudart/nvjitlink_13.map
CLEANFILES += $(runtime_DATA) $(runtime_SCRIPTS)
RUNTIME_LINK = $(AM_V_CCLD)$(MKDIR_P) api/cudart && $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
	$(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(FO_LDHARDEN) $(LDFLAGS) -Wl,-soname,$(@F)

api/cudart/libnvJitLink.so.12: $(srcdir)/api/cudart/nvjitlink.c $(srcdir)/api/cudart/nvjitlink_12.map $(cuda_public)
	$(RUNTIME_LINK) -DNVJITLINK_12 -Wl,--version-script,$(srcdir)/api/cudart/nvjitlink_12.map -o $@ \
		$(srcdir)/api/cudart/nvjitlink.c -ldl
api/cudart/libnvJitLink.so.13: $(srcdir)/api/cudart/nvjitlink.c $(srcdir)/api/cudart/nvjitlink_13.map $(cuda_public)
	$(RUNTIME_LINK) -Wl,--version-script,$(srcdir)/api/cudart/nvjitlink_13.map -o $@ $(srcdir)/api/cudart/nvjitlink.c -ldl
api/cudart/fanout-ptxas: $(srcdir)/api/cudart/fanout-ptxas.in
	$(AM_V_GEN)$(MKDIR_P) api/cudart && cp $(srcdir)/api/cudart/fanout-ptxas.in $@.tmp && chmod 755 $@.tmp && mv $@.tmp $@
# What NVIDIA's libraries export and ours do not have answers "not supported".
api/cudart/entries.gen.c: $(srcdir)/api/cudart/entries.awk $(srcdir)/api/cudart/entries.list
	$(AM_V_GEN)$(MKDIR_P) api/cudart && $(AWK) -f $(srcdir)/api/cudart/entries.awk $(srcdir)/api/cudart/entries.list >$@.tmp && mv $@.tmp $@
CLEANFILES += api/cudart/entries.gen.c
CUDART_NEEDS = $(CUDART) $(srcdir)/api/cudart/runtime.h $(srcdir)/api/cudart/device_fields.h api/cudart/entries.gen.c $(cuda_public) \
	libcuda.la
CUDART_LINK = api/cudart/entries.gen.c $(CUDART) -L.libs -l:libcuda.so.1 -Wl,-rpath-link,.libs -lpthread
api/cudart/libcudart.so.12: $(CUDART_NEEDS) $(srcdir)/api/cudart/v12.c $(srcdir)/api/cudart/cudart_12.map
	$(RUNTIME_LINK) -DCUDART_12 -Wl,--version-script,$(srcdir)/api/cudart/cudart_12.map -o $@ $(srcdir)/api/cudart/v12.c \
		$(CUDART_LINK)
api/cudart/libcudart.so.13: $(CUDART_NEEDS) $(srcdir)/api/cudart/cudart_13.map
	$(RUNTIME_LINK) -Wl,--version-script,$(srcdir)/api/cudart/cudart_13.map -o $@ $(CUDART_LINK)
