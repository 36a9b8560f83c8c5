# traces/: readers of trace formats, one a file; the internal record; replay.
libfanout_core_la_SOURCES += \
	traces/arena.c \
	traces/arena.h \
	traces/finish.c \
	traces/input.c \
	traces/input.h \
	traces/json.c \
	traces/json.h \
	traces/json_value.c \
	traces/plan.c \
	traces/plan.h \
	traces/read_text.c \
	traces/reader.c \
	traces/reader.h \
	traces/reader_util.c \
	traces/record.c \
	traces/record.h \
	traces/words.c \
	traces/words.h \
	traces/write.h \
	traces/write_text.c
