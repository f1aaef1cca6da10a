/* SPDX-License-Identifier: MIT */
/* blocking-in-async: a call that puts the thread to sleep, reached from async code. */
#include "findings.h"
#include "flow.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A function that async code comes to, and from where: breadth first, so by the shortest way. What
   each way knows of its arguments is known in it. */
struct reached {
  struct ir_function *function;
  const struct reached *from; /* NULL: it is asynchronous itself */
  const struct ir_step *call; /* of it, in `from` */
  struct facts entry;
};

struct walk {
  struct reached **list;
  size_t count;
};

/* A second time where that says less of the arguments than all before. */
static void reach(struct walk *w, struct ir_function *f, const struct reached *from,
                  const struct ir_step *call, const struct facts *entry) {
  struct facts all = *entry;
  const struct reached *before = f->reached;
  if (before) {
    all = before->entry;
    if (!facts_meet(&all, entry))
      return;
  }
  struct reached *r = allocate(1, sizeof *r);
  *r = (struct reached){f, from, call, all};
  f->reached = r;
  w->list = ir_grow(w->list, w->count, sizeof *w->list);
  w->list[w->count++] = r;
}

/* What to do in its place, by the name. */
static const char *mend_of(const char *name) {
  static const struct {
    const char *part, *mend;
  } mends[] = {
      {"uv_fs_", "give it a callback, and go on there"},
      {"uv_get", "give it a callback, and go on there"},
      {"_sync", "call the one that takes a callback (..._async), and go on there"},
      {"communicate", "call the one that takes a callback (..._async), and go on there"},
      {"sleep", "start a timer of the loop, and go on in its callback"},
      {"addrinfo", "ask the loop's resolver (uv_getaddrinfo, evdns_getaddrinfo, "
                   "g_resolver_lookup_by_name_async), or c-ares"},
      {"gethostby", "ask the loop's resolver, or c-ares"},
      {"nameinfo", "ask the loop's resolver, or c-ares"},
      {"wait", "have the loop tell of it (a child, an event), and go on in its callback"},
      {"system", "start the child through the loop, and go on when it has ended"},
      {"pclose", "start the child through the loop, and go on when it has ended"},
      {"sync", "let a thread of a pool do it (uv_fs_fsync, uv_queue_work, g_task_run_in_thread)"},
      {NULL, "let a thread of a pool do it, and go on when it says that it has"}};
  size_t i = 0;
  while (mends[i].part && !strstr(name, mends[i].part))
    i++;
  return mends[i].mend;
}

static void tell_path(struct program *p, struct check_finding *f, const struct reached *r,
                      const struct ir_step *last) {
  const struct reached *way[64], *root = r;
  size_t steps = 0;
  for (; r && steps < 64; r = r->from)
    way[steps++] = root = r;
  finding_why(p, f, root->function);
  for (size_t i = steps; i-- > 0;) {
    const struct ir_step *call = i ? way[i - 1]->call : last;
    const struct ir_function *next = i ? way[i - 1]->function : last->callee;
    finding_note(p, f, way[i]->function->body->file, call->line, "'%s' calls '%s'%s",
                 way[i]->function->name, next->name, call_through(p, call));
  }
}

static void tell(struct program *p, const struct rule *rule, const struct reached *r,
                 const struct ir_step *s) {
  const struct ir_body *body = r->function->body;
  const struct reached *root = r;
  const char *name = s->callee->name;
  while (root->from)
    root = root->from;
  struct check_finding *f = finding_begin(p, rule, body->file, s->line, name);
  f->text = root == r ? say(p,
                            "'%s' blocks the thread, and all that its loop would run; '%s' is "
                            "asynchronous",
                            name, r->function->name)
                      : say(p,
                            "'%s' blocks the thread, and all that its loop would run; "
                            "asynchronous '%s' comes here",
                            name, root->function->name);
  tell_path(p, f, r, s);
  f->mend = mend_of(name);
}

static void judge_call(struct program *p, const struct rule *rule, struct walk *w,
                       const struct reached *r, struct ir_step *s, const struct facts *known) {
  struct facts entry;
  bool told = s->judged;
  s->judged = true;
  if (s->kind == IR_ICALL && !s->targets && !told)
    pointer_add(p, r->function->body->file, s->line, pointer_text(p, s));
  for (size_t i = 0; i < s->targets + !!s->callee; i++) {
    struct ir_function *f = s->callee ? s->callee : s->target[i];
    if (s->callee && line_at(r->function->body, s, LANG_BLOCKING)) {
      if (!told)
        tell(p, rule, r, s);
    } else if (f->body && is_plain(f)) {
      flow_pass(known, s, f, &entry);
      reach(w, f, r, s, &entry);
    }
  }
}

static void judge_function(struct program *p, const struct rule *rule, struct walk *w,
                           const struct reached *r) {
  const struct ir_body *b = r->function->body;
  struct facts **in = flow_known(b, &r->entry), known;
  for (size_t i = 0; i < b->blocks; i++) {
    struct ir_block *k = &b->block[i];
    if (!in[i] || k->apart)
      continue;
    facts_copy(&known, in[i]);
    for (struct ir_step *s = k->step; s < k->step + k->steps; s++) {
      if (s->kind == IR_CALL || s->kind == IR_ICALL)
        judge_call(p, rule, w, r, s, &known);
      facts_step(&known, s, flow_shared(b));
    }
  }
  flow_forget(b, in);
}

static void judge(struct program *p, const struct rule *rule) {
  struct walk w = {0};
  EACH_FUNCTION (p, f)
    if (f->body && judged_of(f)->async)
      reach(&w, f, NULL, NULL, &(struct facts){0});
  for (size_t i = 0; i < w.count; i++)
    judge_function(p, rule, &w, w.list[i]);
}

const struct rule rule_blocking = {
    {"blocking-in-async", "a call that puts the thread to sleep, reached from asynchronous code"},
    judge};
