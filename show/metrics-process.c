/* SPDX-License-Identifier: MIT */
/* Processes, their findings, and other servers, as metrics; see metrics.h. */
#include "metrics.h"

#include "ask/ask.h"
#include "read/labels.h"
#include "read/util.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void metric_findings(const struct metrics *w) {
  static const char family[] = "aprof_findings";
  metric_begin(w, family, METRIC_GAUGE, "findings there are, by kind");
  for (size_t i = 0; i < w->processes; i++) {
    uint64_t of[FINDINGS] = {0};
    size_t count;
    struct finding *all = ask_findings(w->process[i].v, &ask_defaults, &count);
    for (size_t j = 0; j < count; j++)
      of[all[j].kind]++;
    findings_free(all, count);
    for (size_t kind = 0; kind < FINDINGS; kind++) {
      char *labels = print_string("%s,kind=\"%s\"", w->process[i].labels, finding_kinds[kind]);
      metric_sample(w, &w->process[i], family, METRIC_GAUGE, labels, of[kind], false);
      free(labels);
    }
  }
}

static void elapsed(const struct metrics *w) {
  metric_begin(w, "aprof_process_elapsed_seconds", METRIC_GAUGE,
               "from the beginning of the profile");
  for (size_t i = 0; i < w->processes; i++)
    metric_sample(w, &w->process[i], "aprof_process_elapsed_seconds", METRIC_GAUGE,
                  w->process[i].labels, w->process[i].v->process.elapsed, true);
  metric_begin(w, "aprof_process_counted_since_seconds", METRIC_GAUGE,
               "seconds since 1970 when counters began: the start, or the last reset");
  for (size_t i = 0; i < w->processes; i++)
    if (!isnan(w->process[i].since))
      fprintf(w->out, "aprof_process_counted_since_seconds{%s} %.3f\n", w->process[i].labels,
              w->process[i].since);
}

/* Joined to any series of the process: * on(process, pid) group_left(build, label_zone). */
static char *info_labels(const struct metric_process *of) {
  const struct view_process *p = &of->v->process;
  char *build = metric_label("build", p->build_id),
       *version = metric_label("version", p->aprof_version);
  char *all = print_string("%s%s%s", of->labels, build, version);
  size_t key, value;
  for (const char *l = p->labels; (l = labels_next(l, &key, &value)); l = labels_behind(l)) {
    char *text = print_string("%.*s", (int)value, l + key + 1);
    char *name = print_string("label_%.*s", (int)key, l), *one = metric_label(name, text);
    char *longer = print_string("%s%s", all, one);
    free(text);
    free(name);
    free(one);
    free(all);
    all = longer;
  }
  free(build);
  free(version);
  return all;
}

static void info(const struct metrics *w) {
  metric_begin(w, "aprof_process_info", METRIC_GAUGE,
               "1; which build it is, and the labels of its host");
  for (size_t i = 0; i < w->processes; i++) {
    char *labels = info_labels(&w->process[i]);
    metric_sample(w, &w->process[i], "aprof_process_info", METRIC_GAUGE, labels, 1, false);
    free(labels);
  }
}

void metric_processes(const struct metrics *w) {
  elapsed(w);
  info(w);
}

double counted_since(const struct view_process *p) {
  struct tm tm = {0};
  const char *rest = p->started_at ? strptime(p->started_at, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
  if (!rest)
    return NAN;
  double start = (double)timegm(&tm) + strtod(rest, NULL);
  return start + (p->reset != UNKNOWN ? (double)p->reset / 1e9 : 0);
}

static char *process_labels(const struct view_process *p, bool with_host) {
  char *name = metric_escaped(p->name), *container = metric_label("container", p->container),
       *host = metric_label("host", with_host ? p->host : NULL);
  char *labels =
      print_string("process=\"%s\",pid=\"%" PRId64 "\"%s%s", name, p->pid, container, host);
  free(name);
  free(container);
  free(host);
  return labels;
}

static bool is_twice(const struct metrics *w, size_t i) {
  for (size_t j = 0; j < w->processes; j++)
    if (j != i && !strcmp(w->process[i].labels, w->process[j].labels))
      return true;
  return false;
}

/* In containers each has the same number, and so has a process that was started again: who scrapes
   takes no series twice. */
static void tell_apart(struct metrics *w, bool with_host) {
  bool *twice = allocate(w->processes + 1, sizeof *twice);
  for (size_t i = 0; i < w->processes; i++)
    twice[i] = is_twice(w, i);
  for (size_t i = 0; i < w->processes; i++) {
    const struct view_process *p = &w->process[i].v->process;
    if (!twice[i])
      continue;
    char *host = metric_label("host", with_host ? NULL
                                      : p->host ? p->host
                                                : ""),
         *started = metric_label("started", p->started_at ? p->started_at : "");
    char *labels = print_string("%s%s%s", w->process[i].labels, host, started);
    free(host);
    free(started);
    free(w->process[i].labels);
    w->process[i].labels = labels;
  }
  free(twice);
}

void metric_processes_name(struct metrics *w, bool with_host) {
  for (size_t i = 0; i < w->processes; i++)
    w->process[i].labels = process_labels(&w->process[i].v->process, with_host);
  tell_apart(w, with_host);
}

/* -- other servers ------------------------------------------------------------------------- */

enum of_agent { AGENT_UP, AGENT_AGE, AGENT_LEFT_OUT };

static void agents(const struct metrics *w, const struct format_options *o, enum of_agent what,
                   const char *family, const char *says) {
  if (!o->agents)
    return;
  metric_begin(w, family, METRIC_GAUGE, says);
  for (size_t i = 0; i < o->agents; i++) {
    const struct format_agent *a = &o->agent[i];
    const uint64_t number[] = {a->up, a->age, a->left_out};
    char *host = metric_label("host", a->name), *url = metric_label("agent", a->url);
    char *labels = print_string("%s%s", host + 1, url);
    if (number[what] != UNKNOWN)
      metric_sample(w, NULL, family, METRIC_GAUGE, labels, number[what], what == AGENT_AGE);
    free(labels);
    free(host);
    free(url);
  }
}

static void pushed(const struct metrics *w, const struct format_options *o) {
  const struct {
    const char *family, *says;
    enum metric_kind kind;
    size_t at;
  } rows[] = {{"aprof_push_sent", "what that server took: requests, profiles, metrics",
               METRIC_COUNTER, offsetof(struct format_pushed, sent)},
              {"aprof_push_dropped", "what it did not take, and what had no room", METRIC_COUNTER,
               offsetof(struct format_pushed, dropped)},
              {"aprof_push_rejected", "what it says itself that it refused", METRIC_COUNTER,
               offsetof(struct format_pushed, rejected)},
              {"aprof_push_retries", "bodies that were sent again", METRIC_COUNTER,
               offsetof(struct format_pushed, retries)},
              {"aprof_push_cut", "requests that an end of a recording cut", METRIC_COUNTER,
               offsetof(struct format_pushed, cut)}};
  const struct metric_process none = {.since = NAN};
  for (size_t i = 0; o->pusheds && i <= sizeof rows / sizeof *rows; i++) {
    bool last = i == sizeof rows / sizeof *rows;
    const char *family = last ? "aprof_push_up" : rows[i].family;
    enum metric_kind kind = last ? METRIC_GAUGE : rows[i].kind;
    metric_begin(w, family, kind, last ? "whether that server takes what is pushed" : rows[i].says);
    for (size_t j = 0; j < o->pusheds; j++) {
      const struct format_pushed *p = &o->pushed[j];
      char *format = metric_label("format", p->format), *url = metric_label("url", p->url);
      char *labels = print_string("%s%s", format + 1, url);
      metric_sample(w, &none, family, kind, labels,
                    last ? p->up : *(const uint64_t *)(const void *)((const char *)p + rows[i].at),
                    false);
      free(labels);
      free(format);
      free(url);
    }
  }
}

void metric_servers(const struct metrics *w, const struct format_options *o) {
  agents(w, o, AGENT_UP, "aprof_agent_up",
         "whether that server answers, of which processes are known");
  agents(w, o, AGENT_AGE, "aprof_agent_age_seconds", "since that server answered");
  agents(w, o, AGENT_LEFT_OUT, "aprof_agent_left_out",
         "processes of that server that are in no number, as there is no room for them");
  pushed(w, o);
}
