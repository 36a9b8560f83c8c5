# model/: the hardware. The order of rooms is the order of dependency: a room includes those above it only.
libfanout_core_la_SOURCES += \
	model/memory/address_hash.c \
	model/memory/address_hash.h \
	model/memory/address_space.c \
	model/memory/address_space.h \
	model/memory/l2_lines.c \
	model/memory/l2_lines.h \
	model/memory/memory.c \
	model/memory/memory_lock.c \
	model/memory/memory.h \
	model/memory/endpoint.c \
	model/memory/endpoint.h \
	model/memory/multicast_object.c \
	model/memory/multicast_object.h \
	model/memory/numeric.c \
	model/memory/numeric.h \
	model/memory/numeric_convert.c \
	model/memory/numeric_convert.h \
	model/shared/account.c \
	model/shared/fabric.h \
	model/shared/link_set.h \
	model/shared/multicast_request.c \
	model/shared/multicast_request.h \
	model/shared/sparse.c \
	model/shared/sparse.h \
	model/shared/packet.h \
	model/shared/policies.c \
	model/shared/policies.h \
	model/shared/policy.h \
	model/shared/probe.h \
	model/shared/route.c \
	model/shared/spec.h \
	model/shared/txn.c \
	model/shared/txn.h \
	model/link/ack.c \
	model/link/ack.h \
	model/link/down.c \
	model/link/down.h \
	model/link/receive.c \
	model/link/link.c \
	model/link/link.h \
	model/link/event_driven.c \
	model/link/state.c \
	model/gpu/atomic.c \
	model/gpu/copy_engine.c \
	model/gpu/copy_engine.h \
	model/gpu/copy_engine_internal.h \
	model/gpu/copy_engine_packets.c \
	model/gpu/fabric_engine.c \
	model/gpu/fabric_engine.h \
	model/gpu/counter.c \
	model/gpu/data.c \
	model/gpu/external_initiator.c \
	model/gpu/external_initiator.h \
	model/gpu/gpu.h \
	model/gpu/hbm.c \
	model/gpu/hbm.h \
	model/gpu/own_memory.c \
	model/gpu/lost.c \
	model/gpu/pipe.c \
	model/gpu/requester.c \
	model/gpu/state.c \
	model/gpu/target.c \
	model/sm/cta.c \
	model/sm/egress_queue.c \
	model/sm/fence.c \
	model/sm/internal.h \
	model/sm/loop.c \
	model/sm/loop.h \
	model/sm/place.c \
	model/sm/place.h \
	model/sm/poll.c \
	model/sm/scattered.c \
	model/sm/load.c \
	model/sm/wait.c \
	model/sm/schedule.c \
	model/sm/sm.c \
	model/sm/sm.h \
	model/sm/state.c \
	model/sm/warp.c \
	model/switch/component.c \
	model/switch/component.h \
	model/switch/merge.c \
	model/switch/multicast_table.c \
	model/switch/multicast_table.h \
	model/switch/record.c \
	model/switch/record.h \
	model/switch/reduction.c \
	model/switch/reduction.h \
	model/switch/state.c \
	model/switch/switch.c \
	model/switch/switch.h \
	model/fastpath/arrival_queue.c \
	model/fastpath/arrival_queue.h \
	model/fastpath/fastpath.h \
	model/fastpath/gpu_port.c \
	model/fastpath/hbm.c \
	model/fastpath/multicast_queue.c \
	model/fastpath/multicast_queue.h \
	model/fastpath/port.c \
	model/fastpath/port.h \
	model/fastpath/switch_port.c \
	model/parallel/mailbox.c \
	model/parallel/mailbox.h \
	model/parallel/parallel.h \
	model/parallel/window.c \
	model/fabric/expression.c \
	model/fabric/expression.h \
	model/fabric/fabric.c \
	model/fabric/fabric.h \
	model/fabric/fault.c \
	model/fabric/fault.h \
	model/fabric/fault_gpu.c \
	model/fabric/fault_live.c \
	model/fabric/fault_plan.c \
	model/fabric/fault_plan.h \
	model/fabric/fault_table.c \
	model/fabric/loss.c \
	model/fabric/loss.h \
	model/fabric/spec.c \
	model/fabric/switches.c \
	model/fabric/switches.h \
	model/fabric/team.c \
	model/fabric/topology.c \
	model/fabric/topology.h \
	model/fabric/usage.c \
	model/fabric/usage.h \
	model/fabric/waves.c \
	model/fabric/waves.h \
	model/fabric/wiring.c \
	model/fabric/wiring.h \
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
	model/presets/preset.c \
	model/presets/preset.h
nodist_libfanout_core_la_SOURCES += model/presets/presets.c model/presets/presets.h

PRESETS = \
	model/presets/dgx-a100.ini \
	model/presets/dgx-h100.ini \
	model/presets/dgx-h200.ini \
	model/presets/gb200-nvl72.ini \
	model/presets/gb300-nvl72.ini \
	model/presets/hgx-b200.ini \
	model/presets/hgx-b300.ini \
	model/presets/teach-4gpu.ini \
	model/presets/vr200-nvl72.ini
EXTRA_DIST += $(PRESETS) model/presets/presets.gresource.xml model/README.md
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
