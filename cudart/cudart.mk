# cudart/: what programs expect beside the driver, of our own: the runtime library, the linker at run time, and a
# stand-in for the assembler.
# Built by plain rules, since two of a name with different numbers behind ".so." are more than libtool has in one
# folder.
runtimedir = $(pkglibdir)
runtime_DATA = cudart/libcudart.so.13 cudart/libnvJitLink.so.12 cudart/libnvJitLink.so.13
runtime_SCRIPTS = cudart/fanout-ptxas
CUDART = $(srcdir)/cudart/device.c $(srcdir)/cudart/memory.c $(srcdir)/cudart/register.c $(srcdir)/cudart/stream.c
EXTRA_DIST += cudart/cudart_13.map cudart/device.c cudart/device_fields.h cudart/memory.c cudart/register.c \
	cudart/runtime.h cudart/stream.c cudart/fanout-ptxas.in cudart/nvjitlink.c cudart/nvjitlink_12.map \
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
cudart/libcudart.so.13: $(CUDART) $(srcdir)/cudart/runtime.h $(srcdir)/cudart/device_fields.h \
		$(srcdir)/cudart/cudart_13.map $(cuda_public) libcuda.la
	$(RUNTIME_LINK) -Wl,--version-script,$(srcdir)/cudart/cudart_13.map -o $@ $(CUDART) -L.libs -l:libcuda.so.1 \
		-Wl,-rpath-link,.libs -lpthread
