# cli/: the fanout command. A verb is one file here and one line in cli/verbs.h.
bin_PROGRAMS += fanout
fanout_SOURCES = \
	cli/main.c \
	cli/options.c \
	cli/options.h \
	cli/progress.c \
	cli/progress.h \
	cli/run.c \
	cli/run.h \
	cli/speed.c \
	cli/speed.h \
	cli/speed_cost.c \
	cli/speed_cost.h \
	cli/speed_cores.c \
	cli/speed_sides.c \
	cli/speed_targets.c \
	cli/speed_yardstick.c \
	cli/system.c \
	cli/system.h \
	cli/trace_args.c \
	cli/trace_args.h \
	cli/verb_coll.c \
	cli/verb_bench.c \
	cli/verb_exec.c \
	cli/verb_convert.c \
	cli/verb_replay.c \
	cli/verb_systems.c \
	cli/verb_validate.c \
	cli/verb_walk.c \
	cli/verb.h \
	cli/verbs.h
fanout_LDADD = libfanout_core.la

# What README.md shows: the first result, in one minute.
EXTRA_DIST += examples/demo.sh examples/update_readme.sh
demo: fanout
	@$(SHELL) $(srcdir)/examples/demo.sh ./fanout

# After a change of the model that was meant.
readme-update: fanout
	@$(SHELL) $(srcdir)/examples/update_readme.sh ./fanout $(srcdir)/README.md
.PHONY: readme-update
