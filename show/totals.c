/* Totals: the document and its small parts; see totals.h. */
#include "totals.h"

#include "read/clock.h"
#include "read/governed.h"
#include "read/json.h"
#include "read/util.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void add_time(cJSON *object, const char *name, int64_t ns) {
  int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
  if (rest < 0) {
    rest += 1000000000;
    seconds--;
  }
  struct tm tm;
  time_t time = (time_t)seconds;
  char day[64] = "";
  if (!gmtime_r(&time, &tm) || tm.tm_year > 8099 || tm.tm_year < 0) {
    json_text(object, name, NULL);
    return;
  }
  strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
  char *text = print_string("%s.%09dZ", day, (int)rest);
  json_text(object, name, text);
  free(text);
}

static void add_text(cJSON *object, const char *name, const char *text) {
  char *copy = print_string("%s", text);
  clean_text(copy);
  json_text(object, name, copy);
  free(copy);
}

/* Since the last reset, while profiling was on: an epoch of being off has no length, nor has
   the first one of a process that began so. False: too many epochs ago. */
static bool measured(const struct model *m, uint64_t *ticks) {
  const struct aprof_header *header = &m->profile->header;
  *ticks = 0;
  if (header->epoch - header->reset_epoch >= APROF_EPOCHS)
    return false;
  for (uint32_t ago = header->epoch - header->reset_epoch + 1; ago-- > 0;) {
    uint32_t epoch = header->epoch - ago;
    const struct aprof_epoch *e = &header->epochs[epoch % APROF_EPOCHS];
    uint64_t end = epoch != header->epoch ? e->end_tick : header->enabled ? m->now : 0;
    *ticks += end > e->begin_tick ? end - e->begin_tick : 0;
  }
  return true;
}

static cJSON *process_object(const struct model *m, const struct totals_request *request) {
  const struct aprof_header *header = &m->profile->header;
  cJSON *object = cJSON_CreateObject();
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  json_signed(object, "pid", header->pid);
  json_signed(object, "parent_pid", header->parent_pid);
  add_text(object, "name", header->name);
  add_text(object, "command", header->command);
  add_text(object, "host", header->host);
  add_time(object, "started_at", header->started_at_ns);
  add_time(object, "dumped_at", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
  uint64_t passed = m->now > header->tick0 ? m->now - header->tick0 : 0;
  json_number(object, "elapsed_ns", clock_to_ns(passed, m->rate));
  bool known = measured(m, &passed);
  json_maybe(object, "measured_ns", clock_to_ns(passed, m->rate), known);
  json_text(object, "reason", request->reason);
  json_number(object, "sequence", request->sequence);
  cJSON_AddBoolToObject(object, "enabled", header->enabled != 0);
  json_number(object, "epoch", header->epoch);
  json_number(object, "reset_epoch", header->reset_epoch);
  uint64_t reset = header->epochs[header->reset_epoch % APROF_EPOCHS].begin_tick;
  json_maybe(object, "reset_ns", clock_to_ns(reset - header->tick0, m->rate),
             totals_were_reset(header));
  json_text(object, "profile", NULL);
  if (request->path) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, "profile");
    add_text(object, "profile", request->path);
  }
  return object;
}

static cJSON *clock_object(const struct model *m) {
  static const char *const sources[] = {"", "tsc", "monotonic", "virtual"};
  cJSON *object = cJSON_CreateObject();
  json_text(object, "source", sources[m->profile->header.clock_source & 3]);
  unsigned __int128 hz = ((unsigned __int128)1000000000u << 32) + m->rate / 2;
  hz /= m->rate;
  json_number(object, "hz", hz > UINT64_MAX ? UINT64_MAX : (uint64_t)hz);
  return object;
}

static cJSON *health_object(const struct model *m) {
  const struct aprof_header *header = &m->profile->header;
  const struct model_health *health = &m->health;
  cJSON *object = cJSON_CreateObject();
  uint64_t cost = (clock_to_ns(header->event_cost_mticks, m->rate) + 500) / 1000;
  json_number(object, "events", health->events);
  json_maybe(object, "event_cost_ns", cost, header->event_cost_mticks != 0);
  json_number(object, "lost_futures", header->lost_futures);
  json_number(object, "folded_nodes", header->folded_nodes);
  json_number(object, "other_nodes", header->other_nodes);
  json_number(object, "lost_histograms", header->lost_histograms);
  json_number(object, "lost_events", header->lost_events);
  json_number(object, "missed_events", health->missed_events);
  json_number(object, "nested_events", health->nested_events);
  json_number(object, "unmatched_awaits", health->unmatched_awaits);
  json_number(object, "reused_keys", health->reused_keys);
  json_number(object, "migrations", health->migrations);
  json_number(object, "torn_threads", health->torn_threads);
  uint64_t elapsed = 0;
  for (uint32_t i = 0; i < m->threads; i++)
    elapsed += m->thread[i].exec + m->thread[i].idle + m->thread[i].other;
  totals_overhead(m, object, health->cost, elapsed);
  json_number(object, "memory_bytes", header->used);
  cJSON_AddBoolToObject(object, "consistent", m->profile->consistent);
  cJSON_AddBoolToObject(object, "confined", header->confined != 0);
  return object;
}

static cJSON *thread_object(const struct model *m, const struct model_thread *t) {
  uint64_t elapsed = t->exec + t->idle + t->other;
  cJSON *object = cJSON_CreateObject();
  json_number(object, "block", t->block);
  json_signed(object, "tid", t->tid);
  json_text(object, "name", t->name);
  json_number(object, "events", t->events);
  json_number(object, "exec_ns", t->exec);
  json_number(object, "idle_ns", t->idle);
  json_number(object, "other_ns", t->other);
  json_number(object, "elapsed_ns", elapsed);
  totals_overhead(m, object, t->cost, elapsed);
  governed_thread(m, object, profile_block(m->profile, t->block));
  json_number(object, "missed_events", t->missed_events);
  json_number(object, "reused_keys", t->reused_keys);
  return object;
}

cJSON *totals_place(const struct name *name) {
  return json_place(name->file, name->line);
}

void totals_site(cJSON *object, const char *role, const struct name *name) {
  if (role)
    json_text(object, role, name->name);
  json_text(object, "file", name->file);
  json_maybe(object, "line", name->line, name->line != 0);
}

const char *totals_kind(const struct name *name) {
  switch (name->kind) {
  case APROF_SITE_AWAIT:
    return "await";
  case APROF_SITE_CREATE:
    return "create";
  case APROF_SITE_RUN:
    return "run";
  case APROF_SITE_RETURN:
    return "return";
  case APROF_SITE_CALL:
    return "call";
  case APROF_SITE_IDLE:
    return "idle";
  case APROF_SITE_SWITCH:
    return "switch";
  case APROF_SITE_FUNCTION:
    return "function";
  default:
    return "unknown";
  }
}

static void begin_array(FILE *out, const char *name) {
  fprintf(out, ",\n\"%s\": [", name);
}

static void next_element(FILE *out, bool first) {
  fputs(first ? "\n  " : ",\n  ", out);
}

static void end_array(FILE *out, bool empty) {
  fputs(empty ? "]" : "\n]", out);
}

static void write_object(FILE *out, const char *name, cJSON *object) {
  fprintf(out, ",\n\"%s\": ", name);
  json_write(out, object);
}

/* All but tree, live and findings. */
static void write_body(const struct model *m, const struct totals_request *request,
                       const struct totals_order *order, FILE *out) {
  fputs("{\"schema\": \"" TOTALS_SCHEMA "\"", out);
  write_object(out, "process", process_object(m, request));
  write_object(out, "clock", clock_object(m));
  write_object(out, "health", health_object(m));
  write_object(out, "governed", governed_object(m));
  begin_array(out, "threads");
  for (uint32_t i = 0; i < m->threads; i++) {
    next_element(out, i == 0);
    json_write(out, thread_object(m, &m->thread[i]));
  }
  end_array(out, m->threads == 0);
  begin_array(out, "loop");
  totals_loops(m, out);
  fputs("]", out);
  begin_array(out, "misses");
  totals_misses(m, out);
  fputs("]", out);
  begin_array(out, "functions");
  for (uint32_t i = 0; i < order->count; i++) {
    next_element(out, i == 0);
    json_write(out, totals_function(m, &m->function[order->shown[i]]));
  }
  end_array(out, order->count == 0);
}

static void write_tree(const struct model *m, const struct totals_order *order, FILE *out) {
  bool first = true;
  begin_array(out, "tree");
  for (uint32_t i = 0; i < m->nodes; i++) {
    if (!order->path_shown[i])
      continue;
    next_element(out, first);
    first = false;
    json_write(out, totals_node(m, order, i));
  }
  end_array(out, first);
}

/* What findings are made of: text, so that the profile can go before. */
struct parts {
  char *body, *live;
  size_t body_size, live_size;
};

/* All but the findings. */
static void write_totals(const struct model *m, const struct totals_request *request,
                         struct parts *parts, FILE *out) {
  struct totals_order order;
  FILE *body_out = open_memstream(&parts->body, &parts->body_size), *live_out = NULL;
  if (body_out)
    live_out = open_memstream(&parts->live, &parts->live_size);
  totals_order(m, &order);
  if (live_out) {
    write_body(m, request, &order, body_out);
    totals_live(m, &order, live_out);
  }
  bool made = live_out && !fclose(live_out);
  made = body_out && !fclose(body_out) && made;
  if (!made) {
    complain("out of memory while making totals");
    exit(CLI_FAILED);
  }
  fwrite(parts->body, 1, parts->body_size, out);
  write_tree(m, &order, out);
  begin_array(out, "live");
  fputs(parts->live, out);
  fputs("]", out);
  totals_order_release(&order);
}

/* Findings are made of the totals as a reader sees them, so that a report of the
   file finds the same. The tree, which is what may be large, is not needed. */
static void write_findings(struct parts *parts, FILE *out) {
  begin_array(out, "findings");
  totals_findings(parts->body, parts->live, out);
  fputs("]\n}\n", out);
  free(parts->body);
  free(parts->live);
}

bool totals_make(int fd, const char *what, enum profile_state state,
                 const struct totals_request *request, FILE *out) {
  bool live = state == PROFILE_LIVE;
  struct aprof_header header;
  /* The fit comes first: it may have to wait, and "now" must not. */
  if (!profile_read_header(fd, what, &header, false))
    return false;
  uint64_t rate = clock_rate(fd, what, &header, live);
  struct profile *p = rate ? profile_read(fd, what, live) : NULL;
  if (!p)
    return false;
  uint64_t now = request->at;
  if (!now)
    now = live && p->read_tick ? p->read_tick : clock_greatest(p);
  struct names *names = names_new(p, live ? p->header.pid : 0);
  struct model *m = model_new(p, names, rate, now, !live);
  struct parts parts = {0};
  write_totals(m, request, &parts, out);
  model_free(m);
  names_free(names);
  profile_free(p);
  write_findings(&parts, out);
  return true;
}
