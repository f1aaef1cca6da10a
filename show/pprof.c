/* SPDX-License-Identifier: MIT */
/*
 * Stacks as a profile of pprof: protobuf (pprof.proto), compressed.
 *
 * A sample has each measure as a value, so that one file answers for all of them; its process is a
 * label, and a mapping with the build-id. A function is its name and file. The line of a caller is
 * that of its call or wait, where it has one of that name only.
 */
#include "formats.h"
#include "pprof.pb-c.h"
#include "read/arena.h"
#include "read/index.h"
#include "read/util.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct writer {
  Pprof__Profile p;
  struct arena arena;
  struct index strings, functions, locations;
  int64_t process, pid; /* the labels' names */
  size_t types;         /* of those below */
};

/* In the order of pprof's menu, which begins with what is meant if nothing is said. The last is
   there where samples are. */
static const enum stack_measure types[] = {STACK_EXEC, STACK_WAITING, STACK_QUEUED,
                                           STACK_WALL, STACK_CALLS,   STACK_CPU};
enum { TYPES = sizeof types / sizeof *types, LABELS = 2, OWN_STRINGS = 20 };

/* Another element of a list of messages for which there is room. */
#define APPEND(profile, Type, INIT, list)                                                          \
  ({                                                                                               \
    Type *appended = arena_get(&(profile)->arena, 1, sizeof *appended);                            \
    *appended = (Type)INIT;                                                                        \
    (profile)->p.list[(profile)->p.n_##list++] = appended;                                         \
    appended;                                                                                      \
  })

static int64_t string_of(struct writer *f, const char *text) {
  char **list = f->p.string_table;
  text = text ? text : "";
  char *const *there = index_get(&f->strings, print_string("%s", text));
  if (there)
    return there - list;
  list[f->p.n_string_table] = (char *)arena_text(&f->arena, text);
  index_put(&f->strings, print_string("%s", text), &list[f->p.n_string_table]);
  return (int64_t)f->p.n_string_table++;
}

static uint64_t function_of(struct writer *f, const struct stack *s) {
  char *key = print_string("%s\n%s", s->name, s->file ? s->file : "");
  const Pprof__Function *there = index_get(&f->functions, print_string("%s", key));
  if (there) {
    free(key);
    return there->id;
  }
  Pprof__Function *made = APPEND(f, Pprof__Function, PPROF__FUNCTION__INIT, function);
  made->id = f->p.n_function;
  made->name = made->system_name = string_of(f, s->name);
  made->filename = string_of(f, s->file);
  made->start_line = s->is_wait ? 0 : (int64_t)s->line;
  index_put(&f->functions, key, made);
  return made->id;
}

static uint64_t location_of(struct writer *f, const struct stack *s, uint64_t line) {
  uint64_t mapping = f->p.n_mapping, function = function_of(f, s);
  char *key = print_string("%" PRIu64 " %" PRIu64 " %" PRIu64, mapping, function, line);
  const Pprof__Location *there = index_get(&f->locations, print_string("%s", key));
  if (there) {
    free(key);
    return there->id;
  }
  Pprof__Line *at = arena_get(&f->arena, 1, sizeof *at);
  *at = (Pprof__Line)PPROF__LINE__INIT;
  at->function_id = function;
  at->line = (int64_t)line;
  Pprof__Location *made = APPEND(f, Pprof__Location, PPROF__LOCATION__INIT, location);
  made->id = f->p.n_location;
  made->mapping_id = mapping;
  made->line = arena_get(&f->arena, 1, sizeof *made->line);
  made->line[made->n_line++] = at;
  index_put(&f->locations, key, made);
  return made->id;
}

static uint64_t line_of_call(const struct stack *parent, const struct stack *child) {
  const struct stack *at = child->is_wait ? child : child->call;
  bool there = at && at->line && at->file && parent->file && !strcmp(at->file, parent->file);
  return there ? at->line : parent->line;
}

static void add_labels(struct writer *f, const struct view *v, const struct stack *s,
                       Pprof__Sample *sample) {
  const struct view_process *of = &v->process;
  if (s->function && v->processes > 1 && s->function->process < v->processes)
    of = &v->merged[s->function->process];
  Pprof__Label *label = arena_get(&f->arena, LABELS, sizeof *label);
  label[0] = label[1] = (Pprof__Label)PPROF__LABEL__INIT;
  label[0].key = f->process;
  label[0].str = string_of(f, of->name);
  label[1].key = f->pid;
  label[1].num = of->pid;
  sample->label = arena_get(&f->arena, LABELS, sizeof *sample->label);
  for (; sample->n_label < LABELS; sample->n_label++)
    sample->label[sample->n_label] = &label[sample->n_label];
}

/* `up`: by stack, the location of its parent when that calls it. */
static void add_sample(struct writer *f, const struct stacks *all, size_t at, const uint64_t *up) {
  const struct stack *s = &all->stack[at];
  bool any = false;
  for (size_t i = 0; i < STACK_MEASURES; i++)
    any |= s->self[i] != 0;
  if (s->left_out || !any)
    return;
  Pprof__Sample *made = APPEND(f, Pprof__Sample, PPROF__SAMPLE__INIT, sample);
  made->location_id = arena_get(&f->arena, s->depth + 1, sizeof *made->location_id);
  made->location_id[made->n_location_id++] = location_of(f, s, s->line);
  for (; all->stack[at].parent != SIZE_MAX; at = all->stack[at].parent)
    made->location_id[made->n_location_id++] = up[at];
  made->value = arena_get(&f->arena, TYPES, sizeof *made->value);
  for (; made->n_value < f->types; made->n_value++)
    made->value[made->n_value] = (int64_t)(s->self[types[made->n_value]] & INT64_MAX);
  add_labels(f, all->view, s, made);
}

static void add_view(struct writer *f, const struct stacks *all) {
  const struct view *v = all->view;
  uint64_t *up = allocate(all->stacks + 1, sizeof *up);
  Pprof__Mapping *mapping = APPEND(f, Pprof__Mapping, PPROF__MAPPING__INIT, mapping);
  mapping->id = f->p.n_mapping;
  mapping->filename = string_of(f, v->process.name);
  mapping->build_id = string_of(f, v->process.build_id);
  mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers = true;
  for (size_t i = 0; i < all->stacks; i++) {
    const struct stack *s = &all->stack[i];
    if (s->parent != SIZE_MAX && !s->left_out)
      up[i] = location_of(f, &all->stack[s->parent], line_of_call(&all->stack[s->parent], s));
    add_sample(f, all, i, up);
  }
  free(up);
}

static void begin(struct writer *f, size_t views, size_t stacks, size_t processes) {
  size_t strings = OWN_STRINGS + 2 * (views + stacks) + processes;
  f->p = (Pprof__Profile)PPROF__PROFILE__INIT;
  index_new(&f->strings, strings);
  index_new(&f->functions, stacks);
  index_new(&f->locations, 2 * stacks);
  f->p.string_table = arena_get(&f->arena, strings, sizeof *f->p.string_table);
  f->p.function = arena_get(&f->arena, stacks + 1, sizeof *f->p.function);
  f->p.location = arena_get(&f->arena, 2 * stacks + 1, sizeof *f->p.location);
  f->p.sample = arena_get(&f->arena, stacks + 1, sizeof *f->p.sample);
  f->p.mapping = arena_get(&f->arena, views + 1, sizeof *f->p.mapping);
  f->p.sample_type = arena_get(&f->arena, TYPES, sizeof *f->p.sample_type);
  string_of(f, "");
  f->process = string_of(f, "process");
  f->pid = string_of(f, "pid");
  for (size_t i = 0; i < f->types; i++) {
    Pprof__ValueType *type = APPEND(f, Pprof__ValueType, PPROF__VALUE_TYPE__INIT, sample_type);
    type->type = string_of(f, stack_measures[types[i]]);
    type->unit = string_of(f, types[i] == STACK_CALLS ? "count" : "nanoseconds");
  }
  f->p.default_sample_type = string_of(f, stack_measures[STACK_WALL]);
}

/* The earliest begin, and from there to the latest end. */
static void set_times(struct writer *f, const struct view *const *v, size_t views) {
  double first = INFINITY, last = 0;
  for (size_t i = 0; i < views; i++) {
    double since = counted_since(&v[i]->process);
    uint64_t elapsed = v[i]->process.measured != UNKNOWN ? v[i]->process.measured : 0;
    first = since < first ? since : first;
    last = fmax(last, since + (double)elapsed / 1e9);
  }
  if (first > 0 && last < 9e9 && last >= first) {
    f->p.time_nanos = (int64_t)(first * 1e9);
    f->p.duration_nanos = (int64_t)((last - first) * 1e9);
  }
}

static void write_compressed(unsigned char *data, size_t length, FILE *out) {
  enum { GZIP = 16, LEVEL = 6, MEMORY = 8, STEP = 1 << 30 };
  unsigned char buffer[32 * 1024];
  z_stream z = {.next_in = data};
  int status = deflateInit2(&z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY);
  while (status == Z_OK) {
    if (!z.avail_in && length) {
      z.avail_in = length < STEP ? (uInt)length : STEP;
      length -= z.avail_in;
    }
    z.next_out = buffer;
    z.avail_out = sizeof buffer;
    status = deflate(&z, length ? Z_NO_FLUSH : Z_FINISH);
    fwrite(buffer, 1, sizeof buffer - z.avail_out, out);
  }
  deflateEnd(&z);
}

void pprof_write(const struct view *const *v, size_t views, const struct format_options *options,
                 FILE *out) {
  struct writer f = {.types = TYPES - 1};
  struct stacks *all = allocate(views + 1, sizeof *all);
  size_t stacks = 0, processes = 0;
  for (size_t i = 0; i < views; i++) {
    all[i] = stacks_of(v[i], options->background);
    stacks += all[i].stacks;
    processes += 1 + v[i]->processes;
    if (v[i]->sampled.samples)
      f.types = TYPES;
  }
  begin(&f, views, stacks, processes);
  for (size_t i = 0; i < views; i++)
    add_view(&f, &all[i]);
  set_times(&f, v, views);
  size_t length = pprof__profile__get_packed_size(&f.p);
  unsigned char *packed = allocate(length + 1, 1);
  pprof__profile__pack(&f.p, packed);
  write_compressed(packed, length, out);
  free(packed);
  for (size_t i = 0; i < views; i++)
    stacks_free(&all[i]);
  free(all);
  index_free(&f.strings);
  index_free(&f.functions);
  index_free(&f.locations);
  arena_free(&f.arena);
}

/* -- to continuous profilers --------------------------------------------------------------- */

/* As a part of a URL. */
static char *escaped(const char *text) {
  char *to = allocate(3 * strlen(text) + 1, 1), *at = to;
  for (; *text; text++)
    if (isalnum((unsigned char)*text) || strchr("-._~", *text))
      *at++ = *text;
    else
      at += sprintf(at, "%%%02X", (unsigned char)*text);
  return to;
}

/* An interval ends with its totals. */
static double interval_since(const struct view_process *p, bool is_interval) {
  struct view_process at = *p;
  if (!is_interval || !p->dumped_at)
    return counted_since(p);
  at.started_at = p->dumped_at;
  at.reset = UNKNOWN;
  return counted_since(&at) - (double)p->elapsed / 1e9;
}

/* Whose it is, and from when to when, in seconds since 1970. */
static char *ingest_query(const struct view *v) {
  double since = interval_since(&v->process, v->is_interval);
  uint64_t ns = v->process.measured != UNKNOWN ? v->process.measured : v->process.elapsed;
  uint64_t from = since > 0 && since < 9e9 ? (uint64_t)since : 0;
  char *name = escaped(v->process.name && *v->process.name ? v->process.name : "aprof");
  char *query = print_string("name=%s&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof", name, from,
                             from + ns / 1000000000 + 1);
  free(name);
  return query;
}

#define BOUNDARY "aprof-46b9e1d3c5"
#define TYPE(name, unit)                                                                           \
  "\"" name "\":{\"units\":\"" unit "\",\"display-name\":\"" name "\",\"aggregation\":\"sum\"}"

const struct format_push push_pprof = {
    .path = "/ingest",
    .type = "multipart/form-data; boundary=" BOUNDARY,
    .query = ingest_query,
    .before =
        "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"sample_type_config\"; "
        "filename=\"types.json\"\r\nContent-Type: application/json\r\n\r\n{" TYPE("exec", "nanoseco"
                                                                                          "nds") "," TYPE(
            "waiting",
            "nanoseconds") "," TYPE("queued",
                                    "nanoseconds") "," TYPE("wall",
                                                            "nanoseconds") "," TYPE("calls",
                                                                                    "count") "}\r\n"
                                                                                             "-"
                                                                                             "-" BOUNDARY
                                                                                             "\r\nC"
                                                                                             "onten"
                                                                                             "t-"
                                                                                             "Dispo"
                                                                                             "sitio"
                                                                                             "n: "
                                                                                             "form-"
                                                                                             "data;"
                                                                                             " name"
                                                                                             "=\"pr"
                                                                                             "ofile"
                                                                                             "\"; "
                                                                                             "filen"
                                                                                             "ame="
                                                                                             "\"pro"
                                                                                             "file."
                                                                                             "pb."
                                                                                             "gz\""
                                                                                             "\r\nC"
                                                                                             "onten"
                                                                                             "t-"
                                                                                             "Type:"
                                                                                             " appl"
                                                                                             "icati"
                                                                                             "on/"
                                                                                             "octet"
                                                                                             "-stre"
                                                                                             "am\r"
                                                                                             "\n\r"
                                                                                             "\n",
    .behind = "\r\n--" BOUNDARY "--\r\n"};
