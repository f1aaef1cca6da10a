# SPDX-License-Identifier: MIT
# The fuzz targets, built by tests/fuzz/run in a directory of their own:
#   make -f fuzz.mk src=SOURCES CLANG=clang
# libFuzzer drives them; ASan and UBSan watch.

FLAGS = -gline-tables-only $(or $(FUZZ_OPTIMIZE),-O1) -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
CPPFLAGS = -D_GNU_SOURCE -DHAVE_ZSTD -DAPROF_VERSION='"fuzz"' -I$(src) -I$(src)/rt/include -I$(src)/tests/cli -MMD -MP
CFLAGS = -std=gnu11 $(FLAGS) -fsanitize=fuzzer-no-link
CXXFLAGS = -std=gnu++14 $(FLAGS) -fsanitize=fuzzer-no-link
LIBS = -lcjson -ldw -lelf -lzstd -lz -lm

VPATH = $(src)

# But for commands, servers and what else no target asks (a link says what is missing), and what the
# build makes C of: pictures, pages, protobuf (so their tables, too).
unasked = main.c cmd-%.c serve-%.c check-%.c suggest-%.c inquiry%.c top%.c push.c probed%.c record-%.c \
  flame%.c outputs.c page%.c pprof.c perfetto%.c otlp-%.c formats.c openmetrics.c metrics-%.c chrome%.c \
  annotate.c arguments.c callgrind.c checked.c complete.c cpu.c csv.c diff-json.c explain.c export.c \
  folded.c follow.c followed.c format-memory.c hold.c listing-json.c many.c narrow.c \
  native.c options.c output.c periodic.c probe.c ps.c question.c raise.c recorded.c recording.c \
  recordings.c recover.c request-rows.c run-end.c sampling.c served.c sheet.c sieve.c source.c spans.c \
  speedscope.c stacks.c story-cpu.c story-tiers.c story-view.c story-wakes.c switch.c terminal.c \
  trace-recorded.c written-json.c
cli = $(patsubst $(src)/%.c,%.o,$(filter-out $(foreach d,read record ask show cli,$(unasked:%=$(src)/$d/%)),\
  $(foreach d,read record ask show cli,$(wildcard $(src)/$d/*.c))))
binding = $(patsubst $(src)/%.cc,%.o,$(wildcard $(src)/lang/*.cc))
ours = $(patsubst $(src)/%.c,%.o,$(wildcard $(src)/tests/fuzz/target-*.c)) \
  tests/fuzz/target-binding.o tests/fuzz/sparse.o tests/fuzz/loose.o tests/fuzz/seeds.o \
  tests/fuzz/recordings.o tests/cli/synthetic.o

all: profile totals coverage recording binding seeds recordings
profile: tests/fuzz/target-profile.o tests/fuzz/sparse.o libcli.a
totals: tests/fuzz/target-totals.o libcli.a
coverage: tests/fuzz/target-coverage.o libcli.a
recording: tests/fuzz/target-recording.o tests/fuzz/loose.o libcli.a
binding: tests/fuzz/target-binding.o $(binding)

profile totals coverage recording binding:
	$(CLANG) --driver-mode=g++ $(FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

seeds: tests/fuzz/seeds.o tests/fuzz/sparse.o tests/cli/synthetic.o
	$(CLANG) $(FLAGS) -o $@ $^

recordings: tests/fuzz/recordings.o tests/fuzz/loose.o tests/cli/synthetic.o libcli.a
	$(CLANG) --driver-mode=g++ $(FLAGS) -o $@ $^ $(LIBS)

libcli.a: $(cli)
	rm -f $@ && ar rcs $@ $^

%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

%.o: %.cc
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

-include $(wildcard $(patsubst %.o,%.d,$(cli) $(binding) $(ours)))
