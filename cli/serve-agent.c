/* SPDX-License-Identifier: MIT */
/* One of the other servers; see serve-agent.h. */
#include "serve-agent.h"

#include "read/json.h"
#include "read/labels.h"
#include "read/verify.h"
#include "serve-document.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* Processes; bytes of a list, of totals. */
enum { MOST = 256, LIST_LIMIT = 8 << 20, ANSWER_LIMIT = 64 << 20 };
/* Rounds while somebody looks, s; somebody does for so long, s; rounds are that far apart in times
   of what reading cost all of them, and while somebody looks; so many without an answer, and it
   counts no more. */
enum { WATCHED_EVERY = 2, LOOKS_FOR = 30, APART = 10, WATCHED_APART = 2, MISSED = 3 };

bool agents_are_watched(const struct agents *all) {
  return all->asked && monotonic_now() - all->asked < LOOKS_FOR * SECOND;
}

int64_t agents_period(const struct agents *all) {
  bool watched = agents_are_watched(all);
  int64_t least = (int64_t)all->every, cost = 0;
  if (watched && least > WATCHED_EVERY * SECOND)
    least = WATCHED_EVERY * SECOND;
  for (const struct agent *a = all->first; a; a = a->next)
    cost += a->cost;
  cost *= watched ? WATCHED_APART : APART;
  return cost > least ? cost : least;
}

/* One that waits for its turn counts, however long that takes. */
bool agent_counts(const struct agent *a) {
  int64_t every = (int64_t)a->all->every, apart = a->all->period > every ? a->all->period : every;
  return a->answered &&
         (!a->silent || monotonic_now() - a->silent <= (MISSED - 1) * apart + SECOND);
}

static void set_state(struct agent *a, enum agent_state state, char *says) {
  a->all->records.moved += a->state != state;
  a->state = state;
  free(a->says);
  a->says = says;
}

static void end_round(struct agent *a) {
  free(a->wanted.of);
  a->wanted = (struct process_names){0};
  a->all->period = agents_period(a->all);
  a->due = monotonic_now() + a->all->period;
}

static void fail(struct agent *a, enum agent_state state, char *says) {
  a->cost = 0; /* what it cost is no reason to ask the others less often */
  set_state(a, state, says);
  end_round(a);
}

/* What this round has not told of is over. */
static void finish(struct agent *a) {
  for (struct recorded *r = a->all->records.first; r; r = r->next)
    if (r->teller == a && r->here && r->mark != a->round) {
      r->here = false;
      a->all->records.moved++;
    }
  a->answered = monotonic_now();
  a->silent = 0;
  a->left_out = a->leaves_out;
  set_state(a, AGENT_ANSWERS,
            a->left_out
                ? print_string("there is no room here for %zu of its processes", a->left_out)
                : NULL);
  if (a->left_out && !a->all->told)
    complain("%s: there is no room for %zu of its processes, nor for others' new ones: --memory",
             a->is.name, a->left_out);
  a->all->told |= a->left_out != 0;
  end_round(a);
}

/* False: that round is over. */
static bool is_answer(struct agent *a, const struct pulled *p) {
  static const enum agent_state of[] = {
      [PULL_SLOW] = AGENT_SLOW, [PULL_GONE] = AGENT_GONE, [PULL_WRONG] = AGENT_WRONG};
  if (p->fault)
    fail(a, of[p->fault], print_string("%s", p->says));
  else if (p->status == 401)
    fail(a, AGENT_WRONG, print_string("it wants another token"));
  else if (p->status == 421)
    fail(a, AGENT_WRONG, print_string("it is not known by that name: start it with --host"));
  else if (p->status != 200 && p->status != 404)
    fail(a, AGENT_WRONG, print_string("it answers with status %u", p->status));
  else {
    a->silent = a->all->heard = monotonic_now();
    return true;
  }
  return false;
}

/* What a text says of itself in its first member is `schema`, or it is said why the round is over.
   "aprof.list/2" is of another version. */
static bool is_of(struct agent *a, const char *text, const char *schema) {
  size_t family = (size_t)(strchr(schema, '/') + 1 - schema);
  const char *at = text + strspn(text, "{ \r\n\t");
  at = !strncmp(at, "\"schema\"", 8) ? at + 8 + strspn(at + 8, " :") : "";
  const char *name = *at == '"' ? at + 1 : "";
  size_t length = strcspn(name, "\"");
  if (length == strlen(schema) && !memcmp(name, schema, length))
    return true;
  if (length > family && length < family + 8 && !memcmp(name, schema, family) &&
      strspn(name + family, "0123456789") == length - family)
    fail(a, AGENT_VERSION,
         print_string("it answers with %.*s, and this aprof reads %s", (int)length, name, schema));
  else
    fail(a, AGENT_WRONG, print_string("what answers there is no aprof serve"));
  return false;
}

static void next_totals(struct agent *);

static struct pull *start(struct agent *a, const char *url, size_t most, pull_done *done) {
  const struct pull_wish wish = {url, a->is.token, a->is.connect, most};
  return pull_start(a->all->pulls, &wish, done, a);
}

/* What the server says of its host, and what the list says here. */
static void label_host(const struct agent *a, struct view *v) {
  char *all = v->process.labels ? print_string("%s", v->process.labels) : NULL;
  size_t key, value;
  for (const char *l = a->is.labels; (l = labels_next(l, &key, &value)); l = labels_behind(l)) {
    char *one = print_string("%.*s", (int)(key + 1 + value), l);
    all = labels_add(all, one);
    free(one);
  }
  v->process.labels = all ? arena_text(&v->arena, all) : NULL;
  free(all);
}

/* A process may have ended since the list was made; one whose numbers cannot be is left out. */
static void take_totals(void *agent, const struct pulled *p) {
  struct agent *a = agent;
  int64_t begin = monotonic_now();
  a->pull = NULL;
  if (!is_answer(a, p))
    return;
  if (p->status == 200) {
    if (!is_of(a, p->text, TOTALS_SCHEMA))
      return;
    complain_never(true);
    struct view *v = view_of_totals(p->text, p->length, a->is.name);
    complain_never(false);
    const char *host = a->passes_on ? NULL : a->is.name;
    struct recorded *r = NULL;
    if (v)
      label_host(a, v);
    if (v && v->processes)
      view_free(v);
    else if (v)
      r = records_add(&a->all->records, v, host, a->wanted.of[a->at - 1].pid, a);
    if (r)
      r->mark = a->round;
  }
  a->cost += monotonic_now() - begin;
  next_totals(a);
}

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

/* What is known already stays; what is new has to have room. */
static bool has_room(const struct agent *a, const struct process_name *name) {
  struct process_name known = *name;
  if (!a->passes_on)
    snprintf(known.host, sizeof known.host, "%s", a->is.name);
  return records_find(&a->all->records, &known) || records_make_room(&a->all->records);
}

static void next_totals(struct agent *a) {
  while (a->at < a->wanted.count && !has_room(a, &a->wanted.of[a->at])) {
    a->at++;
    a->leaves_out++;
  }
  if (a->at == a->wanted.count) {
    finish(a);
    return;
  }
  const struct process_name *name = &a->wanted.of[a->at++];
  char *host = escaped(name->host);
  char *url = print_string("%s/api/totals?pid=%" PRId64 "%s%s", a->is.url, name->pid,
                           *host ? "&host=" : "", host);
  a->pull = start(a, url, ANSWER_LIMIT, take_totals);
  free(url);
  free(host);
}

static void want(struct agent *a, const cJSON *list) {
  const cJSON *row;
  a->passes_on = json_member(list, "hosts") != NULL;
  cJSON_ArrayForEach(row, json_member(list, "profiles")) {
    const char *host = json_get_text(row, "host");
    uint64_t pid = json_value(json_member(row, "pid"), 0);
    if (pid && pid <= INT32_MAX && a->wanted.count < MOST)
      process_add(&a->wanted, host ? host : "", (int64_t)pid);
    else
      a->leaves_out++;
  }
}

static void take_list(void *agent, const struct pulled *p) {
  struct agent *a = agent;
  int64_t begin = monotonic_now();
  a->pull = NULL;
  if (!is_answer(a, p) || !is_of(a, p->text, "aprof.list/1"))
    return;
  char *fault = NULL;
  cJSON *list = json_parse(p->text, p->length, &fault);
  free(fault);
  if (!list) {
    fail(a, AGENT_WRONG, print_string("its list of processes is no JSON"));
    return;
  }
  want(a, list);
  json_free(list);
  a->cost = monotonic_now() - begin;
  next_totals(a);
}

void agent_start(struct agent *a) {
  char *url = print_string("%s/api/processes", a->is.url);
  a->round++;
  a->leaves_out = 0;
  if (!a->silent)
    a->silent = monotonic_now();
  a->at = 0;
  a->due = INT64_MAX;
  a->pull = start(a, url, LIST_LIMIT, take_list);
  free(url);
}

void agent_give_up(struct agent *a) {
  if (!a->pull)
    return;
  pull_cancel(a->all->pulls, a->pull);
  a->pull = NULL;
  fail(a, AGENT_SLOW, print_string("it takes too long to answer"));
}

void agent_free(struct agent *a) {
  if (a->pull)
    pull_cancel(a->all->pulls, a->pull);
  records_forget(&a->all->records, a);
  free(a->wanted.of);
  free(a->says);
  free(a->is.name);
  free(a->is.url);
  free(a->is.token);
  free(a->is.labels);
  free(a->is.connect);
  free(a);
}
