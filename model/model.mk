# model/: the hardware, in the order a packet meets it.
libfanout_core_la_SOURCES += \
	model/fabric/fabric.c \
	model/fabric/fabric.h \
	model/fabric/fault.c \
	model/fabric/fault.h \
	model/fabric/spec.c \
	model/fabric/usage.c \
	model/fabric/usage.h \
	model/fastpath/early.h \
	model/fastpath/gpu_acks.c \
	model/fastpath/gpu_acks.h \
	model/fastpath/gpu_replicas.c \
	model/fastpath/gpu_replicas.h \
	model/fastpath/gpu_replicas_join.h \
	model/fastpath/gpu_replicas_send.h \
	model/fastpath/inbox.c \
	model/fastpath/inbox.h \
	model/fastpath/link_lane.c \
	model/fastpath/link_log.c \
	model/fastpath/link_log.h \
	model/fastpath/link_push.h \
	model/fastpath/link_settle.h \
	model/fastpath/switch_early.c \
	model/flow/egress_internal.h \
	model/flow/egress_replay.c \
	model/flow/egress_replay.h \
	model/flow/egress_result.c \
	model/flow/egress_share.c \
	model/flow/egress_share.h \
	model/flow/fill.c \
	model/flow/head_of_line.c \
	model/flow/head_of_line.h \
	model/flow/internal.h \
	model/flow/issue_rate.c \
	model/flow/issue_rate.h \
	model/flow/load_rate.c \
	model/flow/load_rate.h \
	model/flow/rates.c \
	model/flow/rates.h \
	model/gpu/copy_engine.c \
	model/gpu/copy_engine.h \
	model/gpu/copy_engine_internal.h \
	model/gpu/copy_engine_packets.c \
	model/gpu/data.c \
	model/gpu/external_initiator.c \
	model/gpu/external_initiator.h \
	model/gpu/gpu.h \
	model/gpu/hbm.c \
	model/gpu/hbm.h \
	model/gpu/requester.c \
	model/gpu/state.c \
	model/gpu/target.c \
	model/link/ack_merge.c \
	model/link/ack_merge.h \
	model/link/arrive.c \
	model/link/credit.c \
	model/link/credit.h \
	model/link/internal.h \
	model/link/link.c \
	model/link/link.h \
	model/link/packet.h \
	model/link/ring.h \
	model/link/state.c \
	model/memory/address_hash.c \
	model/memory/address_hash.h \
	model/memory/address_space.c \
	model/memory/address_space.h \
	model/memory/memory.c \
	model/memory/memory.h \
	model/memory/multicast_object.c \
	model/memory/multicast_object.h \
	model/memory/numeric.c \
	model/memory/numeric.h \
	model/memory/numeric_convert.c \
	model/memory/numeric_convert.h \
	model/parallel/mailbox.c \
	model/parallel/mailbox.h \
	model/parallel/window.c \
	model/presets/preset.c \
	model/presets/preset.h \
	model/shared/probe.h \
	model/shared/txn.c \
	model/shared/txn.h \
	model/sm/egress_queue.c \
	model/sm/fence.c \
	model/sm/loop.c \
	model/sm/loop.h \
	model/sm/poll.c \
	model/sm/sm.c \
	model/sm/sm.h \
	model/sm/warp.c \
	model/switch/multicast_table.c \
	model/switch/multicast_table.h \
	model/switch/reduction.c \
	model/switch/switch.c \
	model/switch/switch.h \
	model/walk/text.c \
	model/walk/walk.c \
	model/walk/walk.h
nodist_libfanout_core_la_SOURCES = model/presets/presets.c model/presets/presets.h

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
BUILT_SOURCES += model/presets/presets.c model/presets/presets.h
model/presets/preset.lo: model/presets/presets.h
CLEANFILES += model/presets/presets.c model/presets/presets.h
model/presets/presets.c: model/presets/presets.gresource.xml $(PRESETS)
	$(AM_V_GEN)$(MKDIR_P) model/presets && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-source \
	  --internal --c-name presets --sourcedir=$(srcdir)/model/presets \
	  $(srcdir)/model/presets/presets.gresource.xml
model/presets/presets.h: model/presets/presets.gresource.xml $(PRESETS)
	$(AM_V_GEN)$(MKDIR_P) model/presets && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-header \
	  --internal --c-name presets --sourcedir=$(srcdir)/model/presets \
	  $(srcdir)/model/presets/presets.gresource.xml
