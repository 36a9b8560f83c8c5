# model/: the hardware, in the order a packet meets it.
libfanout_core_la_SOURCES += \
	model/ack.c \
	model/ack.h \
	model/copy.c \
	model/copy.h \
	model/copy_internal.h \
	model/copy_packets.c \
	model/early.h \
	model/exchange.c \
	model/exchange.h \
	model/exchange_window.c \
	model/fabric.c \
	model/fabric_spec.c \
	model/fabric.h \
	model/fault.c \
	model/fault.h \
	model/fence.c \
	model/flow.c \
	model/flow.h \
	model/flow_fill.c \
	model/flow_internal.h \
	model/gpu.c \
	model/gpu_state.c \
	model/gpu.h \
	model/gpu_acks.c \
	model/gpu_acks.h model/gpu_brief.h \
	model/gpu_replicas.c model/gpu_replicas.h model/gpu_replicas_join.h model/gpu_replicas_send.h \
	model/gpu_target.c model/gpu_touch.c \
	model/guest.c \
	model/guest.h \
	model/hash.c \
	model/hash.h \
	model/hbm.c \
	model/hbm.h \
	model/inbox.c \
	model/inbox.h \
	model/link.c \
	model/link.h \
	model/link_arrive.c \
	model/link_credit.c model/link_log.c \
	model/link_lane.c \
	model/link_credit.h model/link_internal.h model/link_log.h model/link_push.h model/link_ring.h model/link_settle.h \
	model/link_state.c \
	model/loop.c \
	model/loop.h \
	model/mcobject.c \
	model/mcobject.h \
	model/mctable.c \
	model/mctable.h \
	model/memory.c \
	model/memory.h \
	model/numeric.c \
	model/numeric.h \
	model/numeric_convert.c \
	model/numeric_convert.h \
	model/packet.h \
	model/poll.c \
	model/load_share.c \
	model/load_share.h \
	model/port_hold.c \
	model/port_hold.h \
	model/port_internal.h \
	model/port_play.c \
	model/port_play.h \
	model/port_result.c \
	model/port_share.c \
	model/port_share.h \
	model/probe.h \
	model/reduction.c \
	model/sm.c \
	model/sm.h \
	model/sm_out.c \
	model/sm_play.c \
	model/sm_play.h \
	model/switch.c \
	model/switch_early.c \
	model/switch.h \
	model/txn.c \
	model/txn.h \
	model/usage.c \
	model/usage.h \
	model/vas.c \
	model/vas.h \
	model/walk.c \
	model/walk.h \
	model/walk_text.c \
	model/warp.c
libfanout_core_la_SOURCES += \
	model/preset.c \
	model/preset.h
nodist_libfanout_core_la_SOURCES = model/presets.c model/presets.h

PRESETS = \
	model/presets/dgx-a100.ini \
	model/presets/dgx-h100.ini \
	model/presets/dgx-h200.ini \
	model/presets/gb200-nvl72.ini \
	model/presets/gb300-nvl72.ini \
	model/presets/hgx-b200.ini \
	model/presets/hgx-b300.ini \
	model/presets/teach-4gpu.ini
EXTRA_DIST += $(PRESETS) model/presets/presets.gresource.xml
BUILT_SOURCES += model/presets.c model/presets.h
model/preset.lo: model/presets.h
CLEANFILES += model/presets.c model/presets.h
model/presets.c: model/presets/presets.gresource.xml $(PRESETS)
	$(AM_V_GEN)$(MKDIR_P) model && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-source \
	  --internal --c-name presets --sourcedir=$(srcdir)/model/presets \
	  $(srcdir)/model/presets/presets.gresource.xml
model/presets.h: model/presets/presets.gresource.xml $(PRESETS)
	$(AM_V_GEN)$(MKDIR_P) model && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-header \
	  --internal --c-name presets --sourcedir=$(srcdir)/model/presets \
	  $(srcdir)/model/presets/presets.gresource.xml
