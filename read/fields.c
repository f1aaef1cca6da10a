/* SPDX-License-Identifier: MIT */
/* The table of fields; see fields.h. */
#include "fields.h"

#include <string.h>

#define AT(member) .at = offsetof(struct OF, member)
#define MAX_OF(member) .of_max = offsetof(struct OF, member)
#define LAYOUT(symbol, title, rows, ...)                                                           \
  const struct layout symbol = {.name = title,                                                     \
                                .size = sizeof(struct OF),                                         \
                                .field = rows,                                                     \
                                .fields = sizeof rows / sizeof *rows,                              \
                                ##__VA_ARGS__}

#define KEY FOLD_KEY
#define SAME FOLD_SAME
#define SUM FOLD_SUM
#define NOW FOLD_NOW
#define MAX FOLD_MAX
#define WITH FOLD_WITH

/* clang-format off */

#define OF view_process
static const struct field process_fields[] = {
    {"pid", FIELD_SIGNED, SAME, AT(pid), .says = "its number, as it sees itself"},
    {"parent_pid", FIELD_SIGNED, SAME, AT(parent_pid), LATER, .says = "its parent's"},
    {"name", FIELD_TEXT, SAME, AT(name), .says = "the program's short name"},
    {"command", FIELD_TEXT, SAME, AT(command), .says = "its command line, cut at 255 bytes"},
    {"host", FIELD_TEXT, SAME, AT(host), .says = "the machine's name"},
    {"container", FIELD_MAYBE_TEXT, SAME, AT(container), LATER, .says = "its container's id, or kind"},
    {"labels", FIELD_MAYBE_TEXT, SAME, AT(labels), LATER, .says = "of its host, as KEY=VALUE,..."},
    {"processors", FIELD_NONZERO, SAME, AT(processors), LATER, .says = "that it might run on at the start"},
    {"build_id", FIELD_MAYBE_TEXT, SAME, AT(build_id), LATER, .says = "the program's GNU build-id"},
    {"aprof_version", FIELD_MAYBE_TEXT, SAME, AT(aprof_version), LATER, .says = "the runtime's"},
    {"started_at", FIELD_MAYBE_TEXT, SAME, AT(started_at), .says = "UTC, when the profile began"},
    {"dumped_at", FIELD_MAYBE_TEXT, SAME, AT(dumped_at), .says = "UTC, when these totals were made"},
    {"elapsed_ns", FIELD_COUNT, SUM, AT(elapsed), .says = "from the beginning of the profile"},
    {"measured_ns", FIELD_MAYBE, SUM, AT(measured), LATER, .says = "of that, what all numbers are of"},
    {"reason", FIELD_TEXT, SAME, AT(reason), .says = "exit, signal, request, recovered or merged; of a recording, recording"},
    {"sequence", FIELD_COUNT, SAME, AT(sequence), LATER, .says = "of a signal: which one, from 1"},
    {"enabled", FIELD_FLAG, SAME, AT(enabled), LATER, .says = "profiling was on"},
    {"epoch", FIELD_COUNT, SAME, AT(epoch), LATER, .says = "raised by on, off, reset and fork"},
    {"reset_epoch", FIELD_COUNT, SAME, AT(reset_epoch), .says = "the epoch of the last reset"},
    {"reset_ns", FIELD_MAYBE, SAME, AT(reset), LATER, .says = "when that was, from the start"},
    {"profile", FIELD_MAYBE_TEXT, SAME, AT(profile), LATER, .says = "the profile's file; null for a memfd"},
};
LAYOUT(layout_process, NULL, process_fields);
#undef OF

#define OF view_clock
static const struct field clock_fields[] = {
    {"source", FIELD_TEXT, SAME, AT(source), LATER, .says = "tsc, monotonic or virtual"},
    {"hz", FIELD_COUNT, SAME, AT(hz), LATER, .says = "ticks a second"},
};
static LAYOUT(layout_clock, NULL, clock_fields);
#undef OF

#define OF view_health
static const struct field health_fields[] = {
    {"events", FIELD_COUNT, SUM, AT(events), .says = "events recorded"},
    {"general_events", FIELD_COUNT, SUM, AT(general_events), LATER, .says = "of these, those that did not go the usual, short way"},
    {"event_cost_ns", FIELD_MAYBE, SAME, AT(event_cost), .says = "what one took on average"},
    {"event_cost_least_ns", FIELD_MAYBE, SAME, AT(event_cost_least), LATER, .says = "what one took when measured at start"},
    {"event_cost_timed", FIELD_FLAG, FOLD_ANY, AT(event_cost_timed), LATER, .says = "event_cost_ns is of events that were timed as they happened"},
    {"lost_futures", FIELD_COUNT, SUM, AT(lost_futures), .says = "futures without a record, in no number"},
    {"folded_nodes", FIELD_COUNT, SUM, AT(folded_nodes), LATER, .says = "recursions folded onto their first place"},
    {"other_nodes", FIELD_COUNT, SUM, AT(other_nodes), .says = "paths counted under (other)"},
    {"lost_histograms", FIELD_COUNT, SUM, AT(lost_histograms), .says = "histograms that were not kept"},
    {"lost_events", FIELD_COUNT, SUM, AT(lost_events), .says = "events of threads that got no room"},
    {"lost_delays", FIELD_COUNT, SUM, AT(lost_delays), LATER, .says = "times that a future was ready during holds, and delayed has not"},
    {"lost_requests", FIELD_COUNT, SUM, AT(lost_requests), LATER, .says = "requests that had no room: their futures are of none"},
    {"lost_shares", FIELD_COUNT, SUM, AT(lost_shares), LATER, .says = "futures whose time is of no request from some moment on"},
    {"slow_missed", FIELD_COUNT, SUM, AT(slow_missed), LATER, .says = "requests that were not looked at, whether they are among the slowest"},
    {"missed_events", FIELD_COUNT, SUM, AT(missed_events), .says = "events that did not fit what was known"},
    {"nested_events", FIELD_COUNT, SUM, AT(nested_events), .says = "events inside a signal handler that interrupted one"},
    {"unmatched_awaits", FIELD_COUNT, SUM, AT(unmatched_awaits), LATER, .says = "awaits outside any future"},
    {"reused_keys", FIELD_COUNT, SUM, AT(reused_keys), .says = "keys that came back while their future lived"},
    {"migrations", FIELD_COUNT, SUM, AT(migrations), LATER, .says = "resumptions on another thread"},
    {"torn_threads", FIELD_COUNT, NOW, AT(torn_threads), .says = "threads killed inside an event"},
    {"cost_ns", FIELD_MAYBE, SUM, AT(cost), LATER, .says = "what the events cost all threads"},
    {"overhead_percent", FIELD_SHARE, SAME, AT(overhead), .says = "that of loops in percent of their worked_ns"},
    {"memory_bytes", FIELD_COUNT, NOW, AT(memory), LATER, .says = "size of the profile"},
    {"consistent", FIELD_FLAG, FOLD_ALL, AT(consistent), .says = "no thread had an event while it was copied"},
    {"confined", FIELD_FLAG, FOLD_ANY, AT(confined), LATER, .says = "the program had given up system calls"},
    {"refused_modules", FIELD_COUNT, NOW, AT(refused_modules), LATER, .says = "modules not profiled, of another plugin's version"},
    {"refused_module", FIELD_MAYBE_TEXT, SAME, AT(refused_module), LATER, .says = "one of them"},
};
static LAYOUT(layout_health, NULL, health_fields);
#undef OF

#define OF view_step
static const struct field governed_step_fields[] = {
    {"step", FIELD_TEXT, SAME, AT(step), LATER, .says = "by what is shed from there on"},
    {"event_cost_ns", FIELD_MAYBE, SAME, AT(event_cost), LATER, .says = "what an event costs there"},
};
static LAYOUT(layout_governed_step, NULL, governed_step_fields);

static const struct field thread_step_fields[] = {
    {"step", FIELD_TEXT, SAME, AT(step), LATER, .says = "by what is shed from there on"},
    {"events", FIELD_COUNT, SUM, AT(events), LATER, .says = "events at it"},
    {"elapsed_ns", FIELD_COUNT, SUM, AT(elapsed), LATER, .says = "time at it"},
};
static LAYOUT(layout_thread_step, NULL, thread_step_fields);
#undef OF

#define OF view_governed
static const struct field governed_fields[] = {
    {"ceiling_percent", FIELD_SHARE, SAME, AT(ceiling), LATER, .says = "what overhead: asked for"},
    {"steps", FIELD_STEPS, SAME, AT(at_step), LATER, .of = &layout_governed_step, .says = "what can be shed"},
};
static LAYOUT(layout_governed, NULL, governed_fields);
#undef OF

#define OF view_period
static const struct field period_fields[] = {
    {"step", FIELD_TEXT, SAME, AT(step), LATER, .says = "what was shed"},
    {"begin_ns", FIELD_COUNT, SAME, AT(begin), LATER, .says = "from the beginning of the profile"},
    {"end_ns", FIELD_MAYBE, SAME, AT(end), LATER, .says = "the same; null while it goes on"},
    {"events", FIELD_COUNT, SAME, AT(events), LATER, .says = "events in it"},
};
static LAYOUT(layout_period, NULL, period_fields);
#undef OF

#define OF view_thread
static const struct field shed_fields[] = {
    {"step", FIELD_TEXT, SAME, AT(step), LATER, .says = "the step that it is at"},
    {"changes", FIELD_COUNT, SAME, AT(changes), LATER, .says = "how often it has shed"},
    {"steps", FIELD_STEPS, SUM, AT(at_step), LATER, .of = &layout_thread_step, .says = "events and time at each"},
    {"periods", FIELD_LIST, SAME, AT(period), LATER, .of = &layout_period, .says = "the last 32 of shedding"},
};
static LAYOUT(layout_shed, NULL, shed_fields);

static const struct field thread_fields[] = {
    {"process", FIELD_COUNT, KEY, AT(process), LATER, .says = "place of its process in processes; 0 of one"},
    {"block", FIELD_COUNT, KEY, AT(block), .says = "number of the entry, stable while the process lives"},
    {"tid", FIELD_SIGNED, SAME, AT(tid), .says = "of the last thread"},
    {"name", FIELD_TEXT, SAME, AT(name), .says = "of the last thread"},
    {"events", FIELD_COUNT, SUM, AT(events), .says = "recorded by it"},
    {"exec_ns", FIELD_COUNT, SUM, AT(exec), .says = "running futures"},
    {"idle_ns", FIELD_COUNT, SUM, AT(idle), .says = "blocked in the poller"},
    {"other_ns", FIELD_COUNT, SUM, AT(other), .says = "loop and code outside any future"},
    {"elapsed_ns", FIELD_COUNT, SUM, AT(elapsed), .says = "all of these"},
    {"worked_ns", FIELD_MAYBE, SUM, AT(worked), LATER, .says = "of a loop: without its sleep"},
    {"run_delay_ns", FIELD_MAYBE, SUM, AT(run_delay), LATER, .says = "ready for a processor that others had, since it began"},
    {"cost_ns", FIELD_MAYBE, SUM, AT(cost), LATER, .says = "what its events cost"},
    {"overhead_percent", FIELD_SHARE, SAME, AT(overhead), LATER, .says = "that in percent of worked_ns"},
    {"shed", FIELD_OBJECT, SUM, .at = 0, LATER, .is = offsetof(struct OF, governed), .of = &layout_shed, .says = "what it has shed, with overhead:"},
    {"missed_events", FIELD_COUNT, SUM, AT(missed_events), LATER, .says = "events that did not fit what was known"},
    {"reused_keys", FIELD_COUNT, SUM, AT(reused_keys), LATER, .says = "keys that came back while their future lived"},
};
LAYOUT(layout_thread, NULL, thread_fields);
#undef OF

#define OF view_ran
static const struct field ran_fields[] = {
    {"name", FIELD_TEXT, KEY, AT(name), LATER, .says = "the function"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), LATER, .is_file = true, .says = "where"},
    {"line", FIELD_NONZERO, KEY, AT(line), LATER, .says = "where"},
    {"slices", FIELD_COUNT, SUM, AT(slices), LATER, .says = "holds of this loop that it began"},
    {"exec_ns", FIELD_COUNT, SUM, AT(exec), LATER, .says = "what it ran there"},
};
static LAYOUT(layout_ran, "ran", ran_fields);
#undef OF

#define OF view_loop
static const struct field loop_fields[] = {
    {"process", FIELD_COUNT, KEY, AT(process), LATER, .says = "place of its process in processes; 0 of one"},
    {"block", FIELD_COUNT, KEY, AT(block), .says = "of its thread"},
    {"tid", FIELD_SIGNED, SAME, AT(tid), .says = "of its thread"},
    {"name", FIELD_TEXT, SAME, AT(name), .says = "of its thread"},
    {"elapsed_ns", FIELD_COUNT, SUM, AT(elapsed), .says = "of its thread"},
    {"busy_ns", FIELD_MAYBE, SUM, AT(busy), .says = "all that is not idle; null without a poller"},
    {"busy", FIELD_SHARE, SAME, AT(busy_share), LATER, .says = "its share of elapsed_ns, from 0 to 1"},
    {"preempted_ns", FIELD_COUNT, SUM, AT(preempted), LATER, .says = "what others had the processor for while it ran futures"},
    {"preempted_max_ns", FIELD_MAYBE, MAX, AT(preempted_max), LATER, .says = "the most of that in one slice"},
    {"hold_max_ns", FIELD_MAYBE, MAX, AT(slice_max), .says = "the longest slice on this thread"},
    {"hold_max_between", FIELD_PAIR, WITH, AT(slice_between), MAX_OF(slice_max), .is_file = true, .says = "the places that bracket it"},
    {"hold_max_names", FIELD_PAIR, WITH, AT(slice_names), LATER, MAX_OF(slice_max), .says = "what is there"},
    {"hold_max_function", FIELD_MAYBE_TEXT, WITH, AT(slice_function), MAX_OF(slice_max), .says = "whose slice it is"},
    {"hold_open_ns", FIELD_MAYBE, SAME, AT(open), .says = "of the slice that goes on"},
    {"hold_open_from", FIELD_MAYBE_TEXT, SAME, AT(open_from), .is_file = true, .says = "the place that let it begin"},
    {"hold_open_function", FIELD_MAYBE_TEXT, SAME, AT(open_function), .says = "the outermost function on that stack"},
    {"ran", FIELD_LIST, SUM, AT(ran), LATER, .of = &layout_ran, .says = "of several loops: the 16 functions that ran most on it"},
};
LAYOUT(layout_loop, "loop", loop_fields);
#undef OF

#define OF view_miss
static const struct field miss_fields[] = {
    {"kind", FIELD_TEXT, KEY, AT(kind), .says = "what found nothing"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "how often"},
    {"name", FIELD_MAYBE_TEXT, KEY, AT(name), .says = "the place that sent it"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where that is"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where that is"},
    {"function", FIELD_MAYBE_TEXT, SAME, AT(in), .says = "the C function that it stands in"},
    {"matched", FIELD_MAYBE_FLAG, FOLD_ANY, AT(matched), LATER, .says = "what is called has found a future somewhere"},
};
static LAYOUT(layout_miss, "miss", miss_fields);
#undef OF

#define OF view_await
static const struct field await_fields[] = {
    {"callee", FIELD_TEXT, KEY, AT(callee), .says = "what is awaited"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where"},
    {"kind", FIELD_TEXT, KEY, AT(kind), .says = "call, await, create, return, run, idle, switch, function or unknown"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "waits that ended"},
    {"immediate", FIELD_COUNT, SUM, AT(immediate), .says = "of these, without a suspension"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(ended), LATER, .was = "", .says = "time in those"},
    {"open_ns", FIELD_COUNT, NOW, AT(open), LATER, .says = "time in those that go on"},
    {"all_ns", FIELD_COUNT, SUM, AT(waiting), .was = "waiting_ns", .says = "both; of an interval, what lies in it"},
    {"waits_for", FIELD_TEXT, SAME, AT(waits_for), LATER, .says = "outside, child or new_work"},
    {"max_ns", FIELD_MAYBE, MAX, AT(max), .says = "the longest that ended"},
    {"background", FIELD_FLAG, KEY, AT(background), .says = "it waits for new work"},
    {"waiting", FIELD_HISTOGRAM, SUM, AT(waits), MAX_OF(max), .says = "of those that were not immediate"},
};
LAYOUT(layout_await, "await", await_fields);
#undef OF

#define OF view_waker
static const struct field waker_fields[] = {
    {"name", FIELD_TEXT, KEY, AT(name), .says = "the call that wakes"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where"},
    {"function", FIELD_MAYBE_TEXT, SAME, AT(in), .says = "the C function that it stands in"},
    {"clock", FIELD_FLAG, KEY, AT(clock), .says = "nobody: it was due"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "wakes that led to a run, or to an end"},
    {"queued_ns", FIELD_COUNT, SUM, AT(queued), .says = "the time until then"},
    {"max_ns", FIELD_MAYBE, MAX, AT(max), .says = "the longest"},
    {"queued", FIELD_HISTOGRAM, SUM, AT(queued_of), MAX_OF(max), .says = "of these times"},
};
LAYOUT(layout_waker, "waker", waker_fields);
#undef OF

#define OF view_blocking
static const struct field blocking_fields[] = {
    {"callee", FIELD_TEXT, KEY, AT(callee), .says = "the call"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "calls"},
    {"held_ns", FIELD_COUNT, SUM, AT(held), .says = "the time in them"},
    {"max_ns", FIELD_MAYBE, MAX, AT(max), .says = "the longest"},
    {"held", FIELD_HISTOGRAM, SUM, AT(held_of), LATER, MAX_OF(max), .says = "of these times"},
};
LAYOUT(layout_blocking, "blocking", blocking_fields);
#undef OF

#define OF view_delayed
static const struct field delayed_fields[] = {
    {"name", FIELD_TEXT, KEY, AT(name), .says = "the function that was ready, and did not run"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where that is"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where that is"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "times that one hold delayed one future"},
    {"delayed_ns", FIELD_COUNT, SUM, AT(delayed), .says = "how long these were ready meanwhile"},
    {"max_ns", FIELD_MAYBE, MAX, AT(max), .says = "the longest"},
};
static LAYOUT(layout_delayed, "delayed", delayed_fields);
#undef OF

#define OF view_lateness
static const struct field lateness_fields[] = {
    {"count", FIELD_COUNT, SUM, AT(count), LATER, .says = "runs that were due at a time"},
    {"total_ns", FIELD_COUNT, SUM, AT(total), LATER, .says = "how late they were, together"},
    {"max_ns", FIELD_COUNT, MAX, AT(max), LATER, .says = "the latest"},
    {"late", FIELD_HISTOGRAM, SUM, AT(late), LATER, MAX_OF(max), .says = "of these times"},
};
static LAYOUT(layout_lateness, NULL, lateness_fields);
#undef OF

#define OF view_function
static const struct field function_fields[] = {
    {"process", FIELD_INDEX, KEY, AT(process), LATER, .says = "place in processes, where each has its own; null: of all"},
    {"name", FIELD_TEXT, KEY, AT(name), .says = "the function"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where"},
    {"column", FIELD_NONZERO, KEY, AT(column), LATER, .says = "two lambdas on one line differ in it"},
    {"model", FIELD_MAYBE_TEXT, SAME, AT(model), LATER, .says = "stack, frame or callback"},
    {"instrumented", FIELD_FLAG, SAME, AT(instrumented), LATER_TRUE, .says = "its code has events, run or not"},
    {"created", FIELD_COUNT, SUM, AT(created), .says = "futures"},
    {"done", FIELD_COUNT, SUM, AT(done), .says = "futures that ended"},
    {"failed", FIELD_COUNT, SUM, AT(failed), .says = "futures that failed"},
    {"cancelled", FIELD_COUNT, SUM, AT(cancelled), .says = "futures that were cancelled"},
    {"detached", FIELD_COUNT, SUM, AT(detached), .says = "lived when an epoch ended"},
    {"live", FIELD_COUNT, NOW, AT(live), .says = "futures alive"},
    {"born_done", FIELD_COUNT, SUM, AT(born_done), .says = "ended without having waited or been queued"},
    {"slices", FIELD_COUNT, SUM, AT(slices), .says = "holds of the loop that it began"},
    {"wall_ns", FIELD_MAYBE, SUM, AT(wall), .says = "lives of all futures, up to now"},
    {"queued_ns", FIELD_MAYBE, SUM, AT(queued), .says = "of that, ready to run"},
    {"exec_ns", FIELD_MAYBE, SUM, AT(exec), .says = "of that, running"},
    {"pool_exec_ns", FIELD_COUNT, SUM, AT(pool_exec), LATER, .says = "of exec_ns, on threads of a pool"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(waiting), .says = "of wall_ns, in awaits"},
    {"children_exec_ns", FIELD_COUNT, SUM, AT(children_exec), .lack = LACK_PATHS, .says = "what futures beneath it ran"},
    {"shed", FIELD_SHED, FOLD_ANY, AT(shed), LATER, .says = "what some of its numbers lack"},
    {"shared", FIELD_FLAG, FOLD_ANY, AT(shared), LATER, .says = "threads ran one of its futures at once: what one of them ran is in no number"},
    {"exec_max_ns", FIELD_MAYBE, MAX, AT(exec_max), .says = "the most of any ended future"},
    {"wall_max_ns", FIELD_MAYBE, MAX, AT(wall_max), .says = "the longest life of any ended future"},
    {"slice_max_ns", FIELD_MAYBE, MAX, AT(slice_max), .says = "the longest slice"},
    {"slice_max_on_cpu_least_ns", FIELD_MAYBE, WITH, AT(on_cpu_least), LATER, MAX_OF(slice_max), .says = "of it on a processor, at least"},
    {"slice_max_on_cpu_most_ns", FIELD_MAYBE, WITH, AT(on_cpu_most), LATER, MAX_OF(slice_max), .says = "of it on a processor, at most"},
    {"slice_max_between", FIELD_PAIR, WITH, AT(slice_between), MAX_OF(slice_max), .is_file = true, .says = "the places that bracket it"},
    {"slice_max_names", FIELD_PAIR, WITH, AT(slice_names), MAX_OF(slice_max), .says = "what is there"},
    {"slice_max_at_start", FIELD_MAYBE_FLAG, WITH, AT(slice_at_start), LATER, MAX_OF(slice_max), .says = "it begins where somebody else created the future"},
    {"slice_max_mostly", FIELD_MAYBE_TEXT, WITH, AT(mostly), LATER, MAX_OF(slice_max), .says = "the function beneath it that took most of it"},
    {"slice_max_mostly_ns", FIELD_MAYBE, WITH, AT(mostly_max), LATER, MAX_OF(slice_max), .says = "the most that one of its futures ran"},
    {"slice_max_mostly_at_once", FIELD_MAYBE_FLAG, WITH, AT(mostly_at_once), LATER, MAX_OF(slice_max), .says = "such futures never wait"},
    {"exec", FIELD_HISTOGRAM, SUM, AT(exec_of), MAX_OF(exec_max), .says = "exec of ended futures"},
    {"slice", FIELD_HISTOGRAM, SUM, AT(slice_of), MAX_OF(slice_max), .says = "of slices"},
    {"wall", FIELD_HISTOGRAM, SUM, AT(wall_of), MAX_OF(wall_max), .says = "lives of ended futures"},
    {"queued", FIELD_HISTOGRAM, SUM, AT(queued_of), .says = "of times spent ready to run"},
    {"awaits", FIELD_LIST, SUM, AT(await), .of = &layout_await, .says = "by place"},
    {"wakers", FIELD_LIST, SUM, AT(waker), .of = &layout_waker, .says = "who woke futures of it, by place"},
    {"lateness", FIELD_OBJECT, SUM, AT(lateness), LATER, .is = offsetof(struct OF, lateness.is), .of = &layout_lateness, .says = "of wakers that are the clock, together"},
    {"blocking", FIELD_LIST, SUM, AT(blocking), .of = &layout_blocking, .says = "calls that held the loop, by place"},
    {"delayed", FIELD_LIST, SUM, AT(delayed), LATER, .of = &layout_delayed, .says = "functions that were ready while it held their loop for over 1 ms"},
};
LAYOUT(layout_function, "function", function_fields);
#undef OF

#define OF view_tier
static const struct field tier_fields[] = {
    {"tier", FIELD_TEXT, KEY, AT(name), .says = "its name"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "requests that were in it"},
    {"calls", FIELD_COUNT, SUM, AT(calls.sum), .says = "how often it was entered from outside"},
    {"calls_max", FIELD_MAYBE, MAX, AT(calls.max), .says = "the most of one request"},
    {"calls_of", FIELD_HISTOGRAM, SUM, AT(calls.of), MAX_OF(calls.max), .says = "of each request"},
    {"exec_ns", FIELD_COUNT, SUM, AT(exec.sum), .says = "running in it"},
    {"exec_max_ns", FIELD_MAYBE, MAX, AT(exec.max), .says = "the most of one request"},
    {"exec", FIELD_HISTOGRAM, SUM, AT(exec.of), MAX_OF(exec.max), .says = "of each request"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(waiting.sum), .says = "in awaits in it"},
    {"waiting_max_ns", FIELD_MAYBE, MAX, AT(waiting.max), .says = "the most of one request"},
    {"waiting", FIELD_HISTOGRAM, SUM, AT(waiting.of), MAX_OF(waiting.max), .says = "of each request"},
    {"wall_ns", FIELD_COUNT, SUM, AT(wall.sum), .says = "from entering to leaving it, what overlaps included"},
    {"wall_max_ns", FIELD_MAYBE, MAX, AT(wall.max), .says = "the most of one request"},
    {"wall", FIELD_HISTOGRAM, SUM, AT(wall.of), MAX_OF(wall.max), .says = "of each request"},
};
LAYOUT(layout_tier, "tier", tier_fields);
#undef OF

#define OF view_slow_tier
static const struct field slow_tier_fields[] = {
    {"tier", FIELD_TEXT, SAME, AT(name), .says = "its name"},
    {"calls", FIELD_COUNT, SAME, AT(calls), .says = "how often it was entered from outside"},
    {"exec_ns", FIELD_COUNT, SAME, AT(exec), .says = "running in it"},
    {"waiting_ns", FIELD_COUNT, SAME, AT(waiting), .says = "in awaits in it"},
    {"wall_ns", FIELD_COUNT, SAME, AT(wall), .says = "from entering to leaving it"},
};
static LAYOUT(layout_slow_tier, NULL, slow_tier_fields);
#undef OF

#define OF view_slow
static const struct field slow_fields[] = {
    {"process", FIELD_COUNT, KEY, AT(process), .says = "place of its process in processes; 0 of one"},
    {"began_at", FIELD_MAYBE_TEXT, SAME, AT(began_at), .says = "UTC"},
    {"begin_ns", FIELD_COUNT, KEY, AT(begin), .says = "from the beginning of the profile"},
    {"trace", FIELD_MAYBE_TEXT, KEY, AT(trace), .says = "of its token: 32 hexadecimal digits"},
    {"span_id", FIELD_MAYBE_TEXT, KEY, AT(span_id), .says = "of its token: 16 hexadecimal digits"},
    {"function", FIELD_TEXT, KEY, AT(function), .says = "it began with"},
    {"failed", FIELD_FLAG, SAME, AT(failed), .says = "it failed"},
    {"wall_ns", FIELD_COUNT, KEY, AT(wall), .says = "from its beginning to its end"},
    {"queued_ns", FIELD_COUNT, SAME, AT(queued), .says = "of all its futures"},
    {"exec_ns", FIELD_COUNT, SAME, AT(exec), .says = "of all its futures"},
    {"waiting_ns", FIELD_COUNT, SAME, AT(waiting), .says = "of all its futures"},
    {"tiers", FIELD_LIST, SAME, AT(tier), .of = &layout_slow_tier, .says = "the eight with the most time"},
};
LAYOUT(layout_slow, "slow", slow_fields);
#undef OF

#define OF view_kind
static const struct field kind_fields[] = {
    {"kind", FIELD_TEXT, KEY, AT(kind), .says = "the label of its requests, or their function's name"},
    {"labelled", FIELD_FLAG, KEY, AT(labelled), .says = "it is a label"},
    {"function", FIELD_TEXT, KEY, AT(function), .says = "the function of its roots"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where that is"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where that is"},
    {"implicit", FIELD_FLAG, FOLD_ANY, AT(implicit), .says = "they begin behind a wait for new work: no line says root"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "requests that ended"},
    {"failed", FIELD_COUNT, SUM, AT(failed), .says = "of these, those that failed"},
    {"live", FIELD_COUNT, NOW, AT(live), .says = "requests that go on"},
    {"after", FIELD_COUNT, SUM, AT(after), .says = "futures that ran once their request was over"},
    {"after_exec_ns", FIELD_COUNT, SUM, AT(after_exec), .says = "what these ran then"},
    {"wall_ns", FIELD_COUNT, SUM, AT(wall.sum), .says = "from their beginning to their end"},
    {"wall_max_ns", FIELD_MAYBE, MAX, AT(wall.max), .says = "the most of one request"},
    {"wall", FIELD_HISTOGRAM, SUM, AT(wall.of), MAX_OF(wall.max), .says = "of each request"},
    {"queued_ns", FIELD_COUNT, SUM, AT(queued.sum), .says = "their futures, ready to run"},
    {"queued_max_ns", FIELD_MAYBE, MAX, AT(queued.max), .says = "the most of one request"},
    {"queued", FIELD_HISTOGRAM, SUM, AT(queued.of), MAX_OF(queued.max), .says = "of each request"},
    {"exec_ns", FIELD_COUNT, SUM, AT(exec.sum), .says = "their futures, running"},
    {"exec_max_ns", FIELD_MAYBE, MAX, AT(exec.max), .says = "the most of one request"},
    {"exec", FIELD_HISTOGRAM, SUM, AT(exec.of), MAX_OF(exec.max), .says = "of each request"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(waiting.sum), .says = "their futures, in awaits"},
    {"waiting_max_ns", FIELD_MAYBE, MAX, AT(waiting.max), .says = "the most of one request"},
    {"waiting", FIELD_HISTOGRAM, SUM, AT(waiting.of), MAX_OF(waiting.max), .says = "of each request"},
    {"tiers", FIELD_LIST, SUM, AT(tier), .of = &layout_tier, .says = "where exec_ns and waiting_ns went"},
    {"other_exec_ns", FIELD_COUNT, SUM, AT(other_exec), .says = "of exec_ns, in no tier"},
    {"other_waiting_ns", FIELD_COUNT, SUM, AT(other_waiting), .says = "of waiting_ns, in no tier"},
    {"slowest", FIELD_LIST, SUM, AT(slow), .of = &layout_slow, .says = "16 of the last minutes"},
};
LAYOUT(layout_kind, "request_kind", kind_fields);
#undef OF

#define OF view_pending
static const struct field pending_fields[] = {
    {"process", FIELD_COUNT, SAME, AT(process), .says = "place of its process in processes; 0 of one"},
    {"id", FIELD_ID, SAME, AT(id), .says = "identity"},
    {"parent", FIELD_ID, SAME, AT(parent), .says = "of the request that ran where it began"},
    {"kind", FIELD_TEXT, SAME, AT(kind), .says = "as of requests, so far"},
    {"function", FIELD_TEXT, SAME, AT(function), .says = "it began with"},
    {"file", FIELD_MAYBE_TEXT, SAME, AT(file), .is_file = true, .says = "where that is"},
    {"line", FIELD_NONZERO, SAME, AT(line), .says = "where that is"},
    {"trace", FIELD_MAYBE_TEXT, SAME, AT(trace), .says = "of its token: 32 hexadecimal digits"},
    {"age_ns", FIELD_COUNT, SAME, AT(age), .says = "since it began"},
    {"members", FIELD_COUNT, SAME, AT(members), .says = "futures that are a part of it"},
    {"root", FIELD_ID, SAME, AT(root), .says = "the future with which it ends"},
    {"rootless", FIELD_FLAG, SAME, AT(rootless), .says = "it ends with the last of its futures"},
    {"queued_ns", FIELD_COUNT, SAME, AT(queued), .says = "of futures that are a part of it no more"},
    {"exec_ns", FIELD_COUNT, SAME, AT(exec), .says = "of futures that are a part of it no more"},
    {"waiting_ns", FIELD_COUNT, SAME, AT(waiting), .says = "of futures that are a part of it no more"},
};
LAYOUT(layout_pending, "live_request", pending_fields);
#undef OF

#define OF view_span
static const struct field span_fields[] = {
    {"span", FIELD_TEXT, KEY, AT(name), .says = "the function, or what is called"},
    {"file", FIELD_MAYBE_TEXT, KEY, AT(file), .is_file = true, .says = "where"},
    {"line", FIELD_NONZERO, KEY, AT(line), .says = "where"},
    {"tier", FIELD_MAYBE_TEXT, SAME, AT(tier), .says = "the tier that it is of"},
    {"detail", FIELD_TEXT, SAME, AT(detail), .says = "time, count or off: what is kept of it"},
    {"calls", FIELD_COUNT, SUM, AT(calls), .says = "that are over"},
    {"exec_ns", FIELD_COUNT, SUM, AT(exec), .says = "its own, in futures"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(waiting), .says = "in awaits right beneath it"},
    {"other_ns", FIELD_COUNT, SUM, AT(other), .says = "its own, outside of any future: of the threads' other_ns"},
};
LAYOUT(layout_span, "span", span_fields);
#undef OF

#define OF view_path
static const struct field await_path_fields[] = {
    {"id", FIELD_COUNT, SAME, AT(id), .says = "number within these totals"},
    {"parent", FIELD_NONZERO, SAME, AT(parent_id), .says = "of the path that waits"},
    {"function_index", FIELD_COUNT, SAME, AT(function), .says = "place in functions of the one that waits"},
    {"await", FIELD_MAYBE_TEXT, KEY, AT(place), .is_file = true, .says = "place of the await"},
    {"callee", FIELD_TEXT, KEY, AT(name), .says = "what is awaited"},
    {"kind", FIELD_TEXT, KEY, AT(kind), .says = "as an await's"},
    {"background", FIELD_FLAG, KEY, AT(background), .says = "it waits for new work"},
    {"count", FIELD_COUNT, SUM, AT(count), .says = "waits that ended"},
    {"immediate", FIELD_COUNT, SUM, AT(immediate), .says = "of these, without a suspension"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(ended), LATER, .was = "", .says = "time in those"},
    {"open_ns", FIELD_COUNT, NOW, AT(open), LATER, .says = "time in those that go on"},
    {"all_ns", FIELD_COUNT, SUM, AT(waiting), .was = "waiting_ns", .says = "both; of an interval, what lies in it"},
    {"waits_for", FIELD_TEXT, SAME, AT(waits_for), LATER, .says = "outside, child or new_work"},
    {"max_ns", FIELD_MAYBE, MAX, AT(max), .says = "the longest that ended"},
};
LAYOUT(layout_await_path, "await_path", await_path_fields, .lack = LACK_PATHS);

static const struct field path_fields[] = {
    {"id", FIELD_COUNT, SAME, AT(id), .says = "number within these totals"},
    {"parent", FIELD_NONZERO, SAME, AT(parent_id), .says = "number of an earlier path; null for a root"},
    {"function", FIELD_TEXT, KEY, AT(name), .says = "the function"},
    {"function_index", FIELD_COUNT, SAME, AT(function), .says = "its place in functions"},
    {"kind", FIELD_MAYBE_TEXT, KEY, AT(kind), LATER, .says = "span: one of the function above it"},
    {"at", FIELD_MAYBE_TEXT, KEY, AT(place), LATER, .is_file = true, .says = "place of the span"},
    {"calls", FIELD_COUNT, SUM, AT(calls), LATER, .says = "of the span, that are over"},
    {"created", FIELD_COUNT, SUM, AT(created), .says = "futures"},
    {"done", FIELD_COUNT, SUM, AT(done), .says = "futures that ended"},
    {"failed", FIELD_COUNT, SUM, AT(failed), .says = "futures that failed"},
    {"cancelled", FIELD_COUNT, SUM, AT(cancelled), .says = "futures that were cancelled"},
    {"detached", FIELD_COUNT, SUM, AT(detached), .says = "lived when an epoch ended"},
    {"live", FIELD_COUNT, NOW, AT(live), .says = "futures alive"},
    {"born_done", FIELD_COUNT, SUM, AT(born_done), LATER, .says = "ended without having waited or been queued"},
    {"slices", FIELD_COUNT, SUM, AT(slices), .says = "holds of the loop that it began"},
    {"exec_ns", FIELD_MAYBE, SUM, AT(exec), .says = "running"},
    {"queued_ns", FIELD_MAYBE, SUM, AT(queued), .says = "ready to run"},
    {"waiting_ns", FIELD_COUNT, SUM, AT(waiting), .says = "in awaits"},
    {"wall_ns", FIELD_MAYBE, SUM, AT(wall), .says = "all of these"},
    {"children_exec_ns", FIELD_COUNT, SUM, AT(children_exec), .says = "exec_ns of all paths beneath"},
    {"shared", FIELD_FLAG, FOLD_ANY, AT(shared), LATER, .says = "as a function's"},
};
LAYOUT(layout_path, "function_path", path_fields, .lack = LACK_PATHS, .other = &layout_await_path, .unless = "function",
       .is_other = offsetof(struct OF, is_await));
#undef OF

#define OF view_live
static const struct field live_fields[] = {
    {"process", FIELD_COUNT, SAME, AT(process), LATER, .says = "place of its process in processes; 0 of one"},
    {"id", FIELD_ID, SAME, AT(id), .says = "identity; null in shared entries"},
    {"parent", FIELD_ID, SAME, AT(parent), .says = "of the future that created it, if that lives"},
    {"function", FIELD_TEXT, SAME, AT(name), LATER, .says = "its function"},
    {"function_index", FIELD_COUNT, SAME, AT(function), .says = "place of that in functions"},
    {"state", FIELD_MAYBE_TEXT, SAME, AT(state), .says = "queued, running or waiting; null: it was ready, and no event would tell what came then"},
    {"age_ns", FIELD_COUNT, SAME, AT(age), .says = "since its creation; the greatest"},
    {"since_ns", FIELD_COUNT, SAME, AT(since), .says = "in its state; the greatest"},
    {"age_min_ns", FIELD_COUNT, SAME, AT(age_min), .says = "in shared entries the least"},
    {"since_min_ns", FIELD_COUNT, SAME, AT(since_min), .says = "in shared entries the least"},
    {"due_in_ns", FIELD_NONZERO, SAME, AT(due), LATER, .says = "until the time that it waits for"},
    {"await", FIELD_MAYBE_TEXT, SAME, AT(place), .is_file = true, .says = "where it waits"},
    {"callee", FIELD_MAYBE_TEXT, SAME, AT(callee), .says = "what for"},
    {"kind", FIELD_MAYBE_TEXT, SAME, AT(kind), .says = "as an await's"},
    {"background", FIELD_FLAG, SAME, AT(background), LATER, .says = "it waits for new work"},
    {"started", FIELD_FLAG, SAME, AT(started), .says = "it has run"},
    {"aside", FIELD_FLAG, SAME, AT(aside), LATER, .says = "it waits for a call on its own stack"},
    {"created_at", FIELD_MAYBE_TEXT, SAME, AT(created_at), .is_file = true, .says = "the place that created it"},
    {"created_by", FIELD_MAYBE_TEXT, SAME, AT(created_by), .says = "the C function that stands in"},
    {"thread", FIELD_TID, SAME, AT(tid), LATER, .says = "that ran it last; null if none did"},
    {"request", FIELD_ID, SAME, AT(request), LATER, .says = "of the request that it is a part of"},
    {"count", FIELD_COUNT, SAME, AT(count), .says = "futures in this entry"},
};
LAYOUT(layout_live, "live", live_fields);
#undef OF

#define OF view
static const struct field totals_fields[] = {
    {"process", FIELD_OBJECT, SUM, AT(process), .of = &layout_process, .says = "whose totals these are"},
    {"processes", FIELD_LIST, SAME, AT(merged), LATER, .of = &layout_process, .says = "of merged totals: of each"},
    {"clock", FIELD_OBJECT, SAME, AT(clock), LATER, .of = &layout_clock, .says = "what time is measured by"},
    {"health", FIELD_OBJECT, SUM, AT(health), .of = &layout_health, .says = "what it cost, and what could not be recorded"},
    {"governed", FIELD_OBJECT, SAME, AT(governed), LATER, .is = offsetof(struct OF, governed.is), .of = &layout_governed, .says = "the option overhead:"},
    {"threads", FIELD_LIST, SUM, AT(thread), .of = &layout_thread, .says = "threads that follow each other share one entry"},
    {"loop", FIELD_LIST, SUM, AT(loop), .of = &layout_loop, .says = "the threads that ran futures or polled"},
    {"misses", FIELD_LIST, SUM, AT(miss), LATER, .of = &layout_miss, .says = "events that are in no number, by place"},
    {"ignored", FIELD_LIST, SUM, AT(ignored), LATER, .of = &layout_miss, .says = "events that found no future, which may well be all right, by place"},
    {"functions", FIELD_LIST, SUM, AT(function), .of = &layout_function, .says = "longest exec first"},
    {"requests", FIELD_LIST, SUM, AT(kind), LATER, .of = &layout_kind, .says = "by kind, the most time first"},
    {"spans", FIELD_LIST, SUM, AT(span), LATER, .of = &layout_span, .says = "plain functions and calls whose time is told apart"},
    {"tree", FIELD_LIST, SAME, AT(path), .of = &layout_path, .says = "paths, parents before children"},
    {"live", FIELD_LIST, SAME, AT(live), .of = &layout_live, .says = "futures alive, oldest first"},
    {"live_requests", FIELD_LIST, SAME, AT(pending), LATER, .of = &layout_pending, .says = "requests that go on, the 1000 oldest"},
};
LAYOUT(layout_totals, NULL, totals_fields);
#undef OF

/* clang-format on */

#define IS_LIST(type, list, count)                                                                 \
  _Static_assert(offsetof(struct type, count) == offsetof(struct type, list) + sizeof(void *),     \
                 #list)
IS_LIST(view, merged, processes);
IS_LIST(view, thread, threads);
IS_LIST(view, loop, loops);
IS_LIST(view, miss, misses);
IS_LIST(view, ignored, ignores);
IS_LIST(view, function, functions);
IS_LIST(view, path, paths);
IS_LIST(view, live, lives);
IS_LIST(view, kind, kinds);
IS_LIST(view, pending, pendings);
IS_LIST(view, span, spans);
IS_LIST(view_kind, tier, tiers);
IS_LIST(view_kind, slow, slows);
IS_LIST(view_slow, tier, tiers);
IS_LIST(view_thread, period, periods);
IS_LIST(view_loop, ran, rans);
IS_LIST(view_function, await, awaits);
IS_LIST(view_function, waker, wakers);
IS_LIST(view_function, blocking, blockings);
IS_LIST(view_function, delayed, delays);

size_t field_count(const void *object, const struct field *field) {
  return field->type == FIELD_STEPS
             ? (size_t)APROF_STEPS
             : *(const size_t *)((const char *)object + field->at + sizeof(void *));
}

void *field_element(const void *object, const struct field *field, size_t index) {
  char *first = field->type == FIELD_STEPS ? field_of(object, field)
                                           : *(char *const *)field_of(object, field);
  return first + index * field->of->size;
}

const struct layout *layout_of(const struct layout *layout, const void *element) {
  bool other = layout->other && *((const bool *)element + layout->is_other);
  return other ? layout->other : layout;
}

/* Times are what the clock makes of them. */
static unsigned lack_of(const struct field *field) {
  size_t length = field->name ? strlen(field->name) : 0;
  bool is_time = length > 3 && !strcmp(field->name + length - 3, "_ns");
  return field->lack                      ? field->lack
         : field->type == FIELD_HISTOGRAM ? LACK_HISTOGRAMS
         : field->fold == FOLD_MAX        ? LACK_MAXIMA
         : is_time                        ? LACK_TIMES
                                          : 0;
}

unsigned field_lack(const struct layout *layout, size_t at) {
  for (size_t i = 0; i < layout->fields && !layout->lack; i++)
    if (layout->field[i].at == at && layout->field[i].type != FIELD_OBJECT)
      return lack_of(&layout->field[i]);
  return layout->lack;
}
