# traces/: readers of trace formats; the internal record; replay.
libfanout_core_la_SOURCES += \
	traces/format/arena.c \
	traces/format/arena.h \
	traces/format/chakra/chakra.c \
	traces/format/chakra/chakra.h \
	traces/format/chakra/pytorch.h \
	traces/format/chakra/pytorch_comm.c \
	traces/format/chakra/read.c \
	traces/format/chakra/read_json.c \
	traces/format/chakra/read_pytorch.c \
	traces/format/chakra/write.c \
	traces/format/files.c \
	traces/format/files.h \
	traces/format/goal/binary.c \
	traces/format/goal/binary.h \
	traces/format/goal/read.c \
	traces/format/goal/write.c \
	traces/format/input.c \
	traces/format/input.h \
	traces/format/jobs.c \
	traces/format/jobs.h \
	traces/format/json.c \
	traces/format/json.h \
	traces/format/json_value.c \
	traces/format/flight/flight.h \
	traces/format/flight/judge.c \
	traces/format/flight/pickle.c \
	traces/format/flight/pickle.h \
	traces/format/flight/pickle_text.c \
	traces/format/flight/pickle_value.h \
	traces/format/flight/read.c \
	traces/format/kept.c \
	traces/format/kineto/build.c \
	traces/format/kineto/collect.c \
	traces/format/kineto/comm.c \
	traces/format/kineto/info.c \
	traces/format/kineto/kineto.h \
	traces/format/kineto/launch_op.c \
	traces/format/kineto/read.c \
	traces/format/kineto/write.c \
	traces/format/mscclpp/mscclpp.h \
	traces/format/mscclpp/read.c \
	traces/format/mscclpp/read_op.c \
	traces/format/names.c \
	traces/format/names.h \
	traces/format/nccl_log/build.c \
	traces/format/nccl_log/inspector.c \
	traces/format/nccl_log/nccl_log.h \
	traces/format/nccl_log/nsight.c \
	traces/format/nccl_log/ranks.c \
	traces/format/nccl_log/read.c \
	traces/format/nccl_log/torn.c \
	traces/format/reader.c \
	traces/format/reader.h \
	traces/format/simai/header.c \
	traces/format/simai/read.c \
	traces/format/simai/simai.h \
	traces/format/text/line.c \
	traces/format/text/read.c \
	traces/format/text/text.h \
	traces/format/text/write.c \
	traces/format/util.c \
	traces/format/words.c \
	traces/format/words.h \
	traces/format/write.c \
	traces/format/write.h \
	traces/record/finish.c \
	traces/record/from_coll.c \
	traces/record/from_coll.h \
	traces/record/graph.c \
	traces/record/graph.h \
	traces/record/group.c \
	traces/record/match.c \
	traces/record/match.h \
	traces/record/match_end.c \
	traces/record/match_parts.h \
	traces/record/plan.c \
	traces/record/plan.h \
	traces/record/record.c \
	traces/record/record.h \
	traces/record/replicate.c \
	traces/record/replicate.h \
	traces/record/select.c \
	traces/record/select.h \
	traces/replay/algo.c \
	traces/replay/busy.c \
	traces/replay/choice.c \
	traces/replay/compare.c \
	traces/replay/episode.c \
	traces/replay/episode.h \
	traces/replay/episode_work.c \
	traces/replay/plan_packets.c \
	traces/replay/plan_program.c \
	traces/replay/plan_run.c \
	traces/replay/plan_run.h \
	traces/replay/replay.c \
	traces/replay/replay.h \
	traces/replay/report.c \
	traces/replay/report.h \
	traces/replay/report_fabric.c \
	traces/replay/report_jobs.c \
	traces/replay/report_pair.c \
	traces/replay/report_parts.h \
	traces/replay/steps.c \
	traces/replay/steps.h \
	traces/replay/stretch.c \
	traces/replay/stretch.h \
	traces/replay/timeline.c \
	traces/replay/timeline.h \
	traces/replay/transfer.c \
	traces/replay/usage.c

# Generated from the schema's field numbers, in the build tree.
nodist_libfanout_core_la_SOURCES += \
	traces/format/chakra/chakra.pb-c.c \
	traces/format/chakra/chakra.pb-c.h
EXTRA_DIST += traces/format/chakra/chakra.proto
BUILT_SOURCES += traces/format/chakra/chakra.pb-c.h
traces/format/chakra/read.lo traces/format/chakra/write.lo: traces/format/chakra/chakra.pb-c.h
CLEANFILES += traces/format/chakra/chakra.pb-c.c traces/format/chakra/chakra.pb-c.h
traces/format/chakra/chakra.pb-c.h: traces/format/chakra/chakra.proto
	$(AM_V_GEN)$(MKDIR_P) traces/format/chakra && \
	$(PROTOC_C) --proto_path=$(srcdir)/traces/format/chakra --c_out=traces/format/chakra \
		$(srcdir)/traces/format/chakra/chakra.proto
traces/format/chakra/chakra.pb-c.c: traces/format/chakra/chakra.pb-c.h
EXTRA_DIST += traces/README.md
