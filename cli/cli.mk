# cli/: the fanout command. A verb is one file here and one line in cli/verb/verbs.h.
bin_PROGRAMS += fanout
fanout_SOURCES = \
	cli/advise/args.c \
	cli/advise/args.h \
	cli/advise/settings.c \
	cli/advise/settings.h \
	cli/advise/simulate.c \
	cli/advise/simulate.h \
	cli/advise/sure.c \
	cli/advise/sure.h \
	cli/bench/answer.c \
	cli/bench/answer.h \
	cli/coll/answer.c \
	cli/coll/answer.h \
	cli/coll/compare.c \
	cli/coll/compare.h \
	cli/coll/what_if.c \
	cli/coll/what_if.h \
	cli/coll/args.c \
	cli/coll/args.h \
	cli/coll/plan.c \
	cli/coll/plan.h \
	cli/coll/auto.c \
	cli/coll/auto.h \
	cli/coll/late.c \
	cli/coll/late.h \
	cli/coll/rows.c \
	cli/coll/rows.h \
	cli/coll/table.c \
	cli/coll/views.c \
	cli/coll/table.h \
	cli/coll/views.h \
	cli/replay/answer.c \
	cli/replay/answer.h \
	cli/sweep/answer.c \
	cli/sweep/answer.h \
	cli/sweep/table.c \
	cli/sweep/table.h \
	cli/table/libraries.c \
	cli/table/libraries.h \
	cli/command.c \
	cli/command.h \
	cli/table/grid.c \
	cli/table/grid.h \
	cli/interrupt.c \
	cli/interrupt.h \
	cli/live/limits.c \
	cli/live/limits.h \
	cli/live/live.c \
	cli/live/live.h \
	cli/machine.c \
	cli/machine.h \
	cli/hints.c \
	cli/hints.h \
	cli/hints_value.c \
	cli/hints_word.c \
	cli/options_hint.c \
	cli/main.c \
	cli/options.c \
	cli/options.h \
	cli/options_check.c \
	cli/sweep/pace.c \
	cli/sweep/pace.h \
	cli/live/monitor/args.c \
	cli/live/monitor/http_functions.h \
	cli/live/monitor/internal.h \
	cli/live/monitor/monitor.c \
	cli/live/monitor/monitor.h \
	cli/live/monitor/server.c \
	cli/live/monitor/status.c \
	cli/replay/args.c \
	cli/replay/args.h \
	cli/replay/live.c \
	cli/replay/live.h \
	cli/live/progress.c \
	cli/live/progress.h \
	cli/replay/place.c \
	cli/replay/place.h \
	cli/replay/views.c \
	cli/replay/views.h \
	cli/reference/about.c \
	cli/reference/about.h \
	cli/reference/choices.c \
	cli/reference/complete.c \
	cli/reference/internal.h \
	cli/reference/list.c \
	cli/reference/manual.c \
	cli/reference/model.c \
	cli/reference/reference.c \
	cli/reference/reference.h \
	cli/run.c \
	cli/verb/run.c \
	cli/run.h \
	cli/live/samples.c \
	cli/live/samples.h \
	cli/live/samples_check.c \
	cli/self/cores.c \
	cli/self/cost.c \
	cli/self/cost.h \
	cli/self/list.c \
	cli/self/fabric_kernels.c \
	cli/self/kernels.c \
	cli/self/interleave.c \
	cli/self/speed.c \
	cli/self/speed.h \
	cli/self/counted.c \
	cli/self/counted.h \
	cli/self/targets.c \
	cli/self/typed.c \
	cli/self/typed.h \
	cli/self/baseline.c \
	cli/system.c \
	cli/system.h \
	cli/words.c \
	cli/table/args.c \
	cli/table/args.h \
	cli/table/rows.c \
	cli/table/rows.h \
	cli/replay/trace_args.c \
	cli/replay/trace_args.h \
	cli/validate/table.c \
	cli/validate/table.h \
	cli/advise/verb.c \
	cli/walk/timeline.c \
	cli/walk/timeline.h \
	cli/bench/verb.c \
	cli/coll/verb.c \
	cli/compare/headline.c \
	cli/compare/headline.h \
	cli/compare/verb.c \
	cli/verb/convert.c \
	cli/verb/doctor.c \
	cli/exec/environment.c \
	cli/exec/environment.h \
	cli/exec/found.c \
	cli/exec/found.h \
	cli/exec/program.c \
	cli/exec/program.h \
	cli/exec/verb.c \
	cli/fabric/verb.c \
	cli/verb/plot.c \
	cli/verb/ptx.c \
	cli/replay/verb.c \
	cli/sweep/verb.c \
	cli/verb/systems.c \
	cli/table/verb.c \
	cli/validate/verb.c \
	cli/verb/verb.h \
	cli/verb/verbs.h \
	cli/walk/verb.c
fanout_LDADD = libfanout_explore.la libfanout_core.la -ldl
# The page of --monitor, as a resource.
nodist_fanout_SOURCES = cli/live/monitor/page.gen.c cli/live/monitor/page.gen.h
monitor_parts = cli/live/monitor/page.gresource.xml cli/live/monitor/page.html
EXTRA_DIST += $(monitor_parts)
BUILT_SOURCES += cli/live/monitor/page.gen.c cli/live/monitor/page.gen.h
CLEANFILES += cli/live/monitor/page.gen.c cli/live/monitor/page.gen.h
cli/live/monitor/server.$(OBJEXT): cli/live/monitor/page.gen.h
cli/live/monitor/page.gen.c: $(monitor_parts)
	$(AM_V_GEN)$(MKDIR_P) cli/live/monitor && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-source \
	  --internal --c-name monitor --sourcedir=$(srcdir)/cli/live/monitor $(srcdir)/cli/live/monitor/page.gresource.xml
cli/live/monitor/page.gen.h: $(monitor_parts)
	$(AM_V_GEN)$(MKDIR_P) cli/live/monitor && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-header \
	  --internal --c-name monitor --sourcedir=$(srcdir)/cli/live/monitor $(srcdir)/cli/live/monitor/page.gresource.xml

# What README.md shows: the first result, in one minute.
EXTRA_DIST += examples/demo.sh
demo: fanout
	@$(SHELL) $(srcdir)/examples/demo.sh ./fanout
EXTRA_DIST += cli/README.md
