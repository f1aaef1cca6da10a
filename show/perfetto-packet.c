/* SPDX-License-Identifier: MIT */
/* Packets; see perfetto.h. */
#include "perfetto.h"

#include "read/arena.h"
#include "read/util.h"

#include <inttypes.h>
#include <string.h>

/* As Perfetto numbers them: flags of packets, clocks, the order of tracks; and a packet's tag. */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2, CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { CHRONOLOGICAL = 2, PACKET = 10 };

static const char *const categories[] = {"slice",  "run",   "wake",      "request",
                                         "future", "state", "processor", NULL};
static const char *const notes[] = {"path",      "tier",       "request", "trace", "exec_ns",
                                    "queued_ns", "waiting_ns", "end",     NULL};
static const char *const names[] = {
    "running", "queued", "waiting for its callee", "wakes", "on a processor", "preempted",
    "blocked", NULL};

/* -- packets ----------------------------------------------------------------------------- */

static void put_packet(struct perfetto *w, Perfetto__Packet *p) {
  unsigned char head[1 + 10] = {PACKET};
  size_t length = perfetto__packet__get_packed_size(p), used = 1;
  for (size_t rest = length; used == 1 || rest; rest >>= 7)
    head[used++] = (unsigned char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  if (length > w->room) {
    w->room = 2 * length;
    w->buffer = reallocate(w->buffer, w->room, 1);
  }
  perfetto__packet__pack(p, w->buffer);
  fwrite(head, 1, used, w->out);
  fwrite(w->buffer, 1, length, w->out);
}

static Perfetto__Packet packet_of(const struct perfetto *w) {
  Perfetto__Packet p = PERFETTO__PACKET__INIT;
  p.trusted_packet_sequence_id = (uint32_t)w->story + 1;
  p.sequence_flags = NEEDS_STATE;
  return p;
}

uint64_t perfetto_track(const struct perfetto *w, enum perfetto_track kind, uint32_t number) {
  return ((uint64_t)w->story + 1) << 40 | (uint64_t)kind << 32 | number;
}

void perfetto_event(struct perfetto_event *e, uint64_t track, enum perfetto_type type,
                    enum perfetto_category category) {
  memset(e, 0, sizeof *e);
  perfetto__track_event__init(&e->event);
  e->category = category;
  e->event.type = (int)type;
  e->event.track_uuid = track;
  e->event.debug_annotations = e->notes;
  if (category) {
    e->event.category_iids = &e->category;
    e->event.n_category_iids = 1;
  }
}

static Perfetto__DebugAnnotation *add_note(struct perfetto_event *e, enum perfetto_note name) {
  size_t i = e->event.n_debug_annotations++;
  perfetto__debug_annotation__init(&e->note[i]);
  e->note[i].name_iid = name;
  e->notes[i] = &e->note[i];
  return &e->note[i];
}

void perfetto_note(struct perfetto_event *e, enum perfetto_note name, const char *text) {
  add_note(e, name)->string_value = (char *)text;
}

void perfetto_note_number(struct perfetto_event *e, enum perfetto_note name, uint64_t value) {
  add_note(e, name)->uint_value = value;
}

void perfetto_put(struct perfetto *w, struct perfetto_event *e, uint64_t at) {
  Perfetto__Packet p = packet_of(w);
  p.timestamp = (uint64_t)w->s->started_at_ns + at;
  p.track_event = &e->event;
  put_packet(w, &p);
}

void perfetto_put_end(struct perfetto *w, uint64_t track, uint64_t at) {
  struct perfetto_event e;
  perfetto_event(&e, track, SLICE_END, 0);
  perfetto_put(w, &e, at);
}

void perfetto_put_data(struct perfetto *w, Perfetto__InternedData *data) {
  Perfetto__Packet p = packet_of(w);
  p.interned_data = data;
  put_packet(w, &p);
}

void perfetto_put_sample(struct perfetto *w, Perfetto__PerfSample *sample, uint64_t at) {
  Perfetto__Packet p = packet_of(w);
  p.timestamp = (uint64_t)w->s->started_at_ns + at;
  p.perf_sample = sample;
  put_packet(w, &p);
}

void perfetto_path(struct perfetto_event *e, const struct story *s, uint32_t path) {
  e->event.name_iid = path + 1u;
  if (s->paths[path].file)
    e->event.source_location_iid = path + 1u;
  perfetto_note(e, NOTE_PATH, s->paths[path].text);
}

void perfetto_name(struct perfetto_event *e, const struct story *s, enum perfetto_name name) {
  e->event.name_iid = (uint64_t)s->paths_count + 1 + name;
}

void perfetto_tier(struct perfetto_event *e, const struct story *s, const struct story_segment *g) {
  if (g->tier && g->tier < STORY_TIERS && s->tiers[g->tier])
    perfetto_note(e, NOTE_TIER, s->tiers[g->tier]);
}

/* -- what comes first -------------------------------------------------------------------- */

static Perfetto__Name **name_list(struct arena *a, const char *const *text, size_t *count) {
  for (*count = 0; text[*count];)
    ++*count;
  Perfetto__Name **list = arena_get(a, *count, sizeof *list);
  Perfetto__Name *name = arena_get(a, *count, sizeof *name);
  for (size_t i = 0; i < *count; i++) {
    perfetto__name__init(&name[i]);
    name[i].iid = i + 1;
    name[i].name = (char *)text[i];
    list[i] = &name[i];
  }
  return list;
}

static void put_names(struct perfetto *w) {
  const struct story *s = w->s;
  struct arena a = {0};
  size_t count = (size_t)s->paths_count + NAMES;
  const char **text = arena_get(&a, count + 1, sizeof *text);
  for (uint32_t i = 0; i < s->paths_count; i++)
    text[i] = s->paths[i].name;
  memcpy(text + s->paths_count, names, sizeof names);
  Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
  data.event_names = name_list(&a, text, &data.n_event_names);
  data.event_categories = name_list(&a, categories, &data.n_event_categories);
  data.debug_annotation_names = name_list(&a, notes, &data.n_debug_annotation_names);
  data.source_locations = arena_get(&a, count, sizeof *data.source_locations);
  for (uint32_t i = 0; i < s->paths_count; i++) {
    const struct story_path *p = &s->paths[i];
    Perfetto__SourceLocation *place = arena_get(&a, 1, sizeof *place);
    perfetto__source_location__init(place);
    place->iid = i + 1u;
    place->file_name = (char *)(p->file ? p->file : "");
    place->function_name = (char *)p->name;
    place->line_number = p->line;
    data.source_locations[data.n_source_locations++] = place;
  }
  Perfetto__Packet p = packet_of(w);
  p.sequence_flags = STATE_CLEARED;
  p.interned_data = &data;
  put_packet(w, &p);
  arena_free(&a);
}

/* Times are those of day: both clocks are. */
static void put_clocks(struct perfetto *w) {
  Perfetto__Clock clock[] = {PERFETTO__CLOCK__INIT, PERFETTO__CLOCK__INIT};
  Perfetto__Clock *list[] = {&clock[0], &clock[1]};
  Perfetto__ClockSnapshot clocks = PERFETTO__CLOCK_SNAPSHOT__INIT;
  clock[0].clock_id = CLOCK_BOOTTIME_ID;
  clock[1].clock_id = CLOCK_REALTIME_ID;
  clock[0].timestamp = clock[1].timestamp = (uint64_t)w->s->started_at_ns;
  clocks.clocks = list;
  clocks.n_clocks = 2;
  Perfetto__Packet p = packet_of(w);
  p.clock_snapshot = &clocks;
  put_packet(w, &p);
}

static void put_track(struct perfetto *w, Perfetto__TrackDescriptor *t) {
  Perfetto__Packet p = packet_of(w);
  t->child_ordering = CHRONOLOGICAL;
  p.track_descriptor = t;
  put_packet(w, &p);
}

void perfetto_put_track(struct perfetto *w, uint64_t track, uint64_t parent, const char *name) {
  Perfetto__TrackDescriptor t = PERFETTO__TRACK_DESCRIPTOR__INIT;
  t.uuid = track;
  t.parent_uuid = parent;
  t.name = (char *)name;
  put_track(w, &t);
}

static void put_threads(struct perfetto *w) {
  const struct story *s = w->s;
  Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
  Perfetto__TrackDescriptor of_process = PERFETTO__TRACK_DESCRIPTOR__INIT;
  process.pid = s->pid;
  process.process_name = (char *)s->process;
  of_process.uuid = perfetto_track(w, TRACK_PROCESS, 0);
  of_process.process = &process;
  put_track(w, &of_process);
  for (uint32_t i = 0; i < s->threads_count; i++) {
    Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
    Perfetto__TrackDescriptor t = PERFETTO__TRACK_DESCRIPTOR__INIT;
    thread.pid = s->pid;
    thread.tid = s->threads[i].tid;
    thread.thread_name = (char *)s->threads[i].name;
    t.uuid = perfetto_track(w, TRACK_THREAD, i);
    t.parent_uuid = of_process.uuid;
    t.thread = &thread;
    put_track(w, &t);
  }
}

void perfetto_begin(struct perfetto *w) {
  put_clocks(w);
  put_names(w);
  put_threads(w);
}
