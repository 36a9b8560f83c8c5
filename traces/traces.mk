# traces/: readers of trace formats, one a file; the internal record; replay.
libfanout_core_la_SOURCES += \
	traces/arena.c \
	traces/arena.h \
	traces/chakra.c \
	traces/chakra.h \
	traces/episode.c \
	traces/episode.h \
	traces/episode_work.c \
	traces/finish.c \
	traces/graph.c \
	traces/graph.h \
	traces/input.c \
	traces/input.h \
	traces/json.c \
	traces/json.h \
	traces/json_value.c \
	traces/kineto.h \
	traces/kineto_build.c \
	traces/match.c \
	traces/match.h \
	traces/match_end.c \
	traces/match_parts.h \
	traces/mscclpp.h \
	traces/nccl_log.h \
	traces/nccl_log_build.c \
	traces/plan.c \
	traces/plan.h \
	traces/plan_program.c \
	traces/plan_run.c \
	traces/plan_run.h \
	traces/read_chakra.c \
	traces/read_chakra_json.c \
	traces/read_goal.c \
	traces/read_kineto.c \
	traces/read_mscclpp.c \
	traces/read_mscclpp_op.c \
	traces/read_nccl_log.c \
	traces/read_pytorch_et.c \
	traces/read_simai.c \
	traces/read_text.c \
	traces/reader.c \
	traces/reader.h \
	traces/reader_util.c \
	traces/record.c \
	traces/record.h \
	traces/record_coll.c \
	traces/record_coll.h \
	traces/replay.c \
	traces/replay.h \
	traces/replay_algo.c \
	traces/replay_busy.c \
	traces/replay_report.c \
	traces/replay_report.h \
	traces/replay_report_fabric.c \
	traces/replay_report_jobs.c \
	traces/replay_report_parts.h \
	traces/replay_timeline.c \
	traces/replay_timeline.h \
	traces/replicate.c \
	traces/replicate.h \
	traces/select.c \
	traces/select.h \
	traces/steps.c \
	traces/steps.h \
	traces/transfer.c \
	traces/words.c \
	traces/words.h \
	traces/write.c \
	traces/write.h \
	traces/write_chakra.c \
	traces/write_goal.c \
	traces/write_text.c

# Generated from the schema's field numbers, in the build tree.
nodist_libfanout_core_la_SOURCES += \
	traces/chakra.pb-c.c \
	traces/chakra.pb-c.h
EXTRA_DIST += traces/chakra.proto
BUILT_SOURCES += traces/chakra.pb-c.h
traces/read_chakra.lo traces/write_chakra.lo: traces/chakra.pb-c.h
CLEANFILES += traces/chakra.pb-c.c traces/chakra.pb-c.h
traces/chakra.pb-c.h: traces/chakra.proto
	$(AM_V_GEN)$(MKDIR_P) traces && $(PROTOC_C) --proto_path=$(srcdir)/traces --c_out=traces \
		$(srcdir)/traces/chakra.proto
traces/chakra.pb-c.c: traces/chakra.pb-c.h
