# cudart/: what programs expect beside the driver, of our own: the runtime library, the linker at run time, and a
# stand-in for the assembler.
# Built by plain rules, since two of a name with different numbers behind ".so." are more than libtool has in one
# folder.
runtimedir = $(pkglibdir)
runtime_DATA = cudart/libcudart.so.12 cudart/libcudart.so.13 cudart/libnvJitLink.so.12 cudart/libnvJitLink.so.13
runtime_SCRIPTS = cudart/fanout-ptxas
CUDART = $(srcdir)/cudart/attribute.c $(srcdir)/cudart/device.c $(srcdir)/cudart/graph.c $(srcdir)/cudart/memory.c \
	$(srcdir)/cudart/per_thread.c $(srcdir)/cudart/pitched.c $(srcdir)/cudart/register.c $(srcdir)/cudart/stream.c
EXTRA_DIST += cudart/attribute.c cudart/cudart_12.map cudart/cudart_13.map cudart/device.c cudart/device_fields.h \
	cudart/entries.awk cudart/entries.list cudart/graph.c cudart/memory.c cudart/per_thread.c cudart/pitched.c \
	cudart/register.c cudart/runtime.h cudart/stream.c cudart/v12.c cudart/fanout-ptxas.in cudart/nvjitlink.c cudart/nvjitlink_12.map \
	cudart/nvjitlink_13.map
CLEANFILES += $(runtime_DATA) $(runtime_SCRIPTS)
RUNTIME_LINK = $(AM_V_CCLD)$(MKDIR_P) cudart && $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
	$(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(FO_LDHARDEN) $(LDFLAGS) -Wl,-soname,$(@F)

cudart/libnvJitLink.so.12: $(srcdir)/cudart/nvjitlink.c $(srcdir)/cudart/nvjitlink_12.map $(cuda_public)
	$(RUNTIME_LINK) -DNVJITLINK_12 -Wl,--version-script,$(srcdir)/cudart/nvjitlink_12.map -o $@ \
		$(srcdir)/cudart/nvjitlink.c -ldl
cudart/libnvJitLink.so.13: $(srcdir)/cudart/nvjitlink.c $(srcdir)/cudart/nvjitlink_13.map $(cuda_public)
	$(RUNTIME_LINK) -Wl,--version-script,$(srcdir)/cudart/nvjitlink_13.map -o $@ $(srcdir)/cudart/nvjitlink.c -ldl
cudart/fanout-ptxas: $(srcdir)/cudart/fanout-ptxas.in
	$(AM_V_GEN)$(MKDIR_P) cudart && cp $(srcdir)/cudart/fanout-ptxas.in $@.tmp && chmod 755 $@.tmp && mv $@.tmp $@
# What NVIDIA's libraries export and ours do not have answers "not supported".
cudart/entries.gen.c: $(srcdir)/cudart/entries.awk $(srcdir)/cudart/entries.list
	$(AM_V_GEN)$(MKDIR_P) cudart && $(AWK) -f $(srcdir)/cudart/entries.awk $(srcdir)/cudart/entries.list >$@.tmp && mv $@.tmp $@
CLEANFILES += cudart/entries.gen.c
CUDART_NEEDS = $(CUDART) $(srcdir)/cudart/runtime.h $(srcdir)/cudart/device_fields.h cudart/entries.gen.c $(cuda_public) \
	libcuda.la
CUDART_LINK = cudart/entries.gen.c $(CUDART) -L.libs -l:libcuda.so.1 -Wl,-rpath-link,.libs -lpthread
cudart/libcudart.so.12: $(CUDART_NEEDS) $(srcdir)/cudart/v12.c $(srcdir)/cudart/cudart_12.map
	$(RUNTIME_LINK) -DCUDART_12 -Wl,--version-script,$(srcdir)/cudart/cudart_12.map -o $@ $(srcdir)/cudart/v12.c \
		$(CUDART_LINK)
cudart/libcudart.so.13: $(CUDART_NEEDS) $(srcdir)/cudart/cudart_13.map
	$(RUNTIME_LINK) -Wl,--version-script,$(srcdir)/cudart/cudart_13.map -o $@ $(CUDART_LINK)
