/* SPDX-License-Identifier: MIT */
/* await-outside-async: a wait that main() comes to, where no future runs that could wait. */
#include "findings.h"
#include "flow.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A function that main() comes to by plain calls, and from where. */
struct reached {
  struct ir_function *function;
  const struct reached *from;
  const struct ir_step *call; /* of it, in `from` */
};

struct walk {
  struct reached **list;
  size_t count;
};

static void reach(struct walk *w, struct ir_function *f, const struct reached *from,
                  const struct ir_step *call) {
  for (size_t i = 0; i < w->count; i++)
    if (w->list[i]->function == f)
      return;
  struct reached *r = allocate(1, sizeof *r);
  *r = (struct reached){f, from, call};
  w->list = ir_grow(w->list, w->count, sizeof *w->list);
  w->list[w->count++] = r;
}

/* Of these libraries main() itself may wait: it is a coroutine, too. */
static bool main_may_wait(const struct lang_about *about) {
  static const char *const names[] = {"st.aprof", "pth.aprof", "libdill.aprof", "glib.aprof", NULL};
  for (size_t i = 0; about->library && names[i]; i++)
    if (!strcmp(about->library, names[i]))
      return true;
  return false;
}

/* It asks whether a coroutine runs, and does otherwise if none does. */
static bool asks(const struct ir_function *f) {
  EACH_STEP (f->body, s)
    if (s->callee && (strstr(s->callee->name, "in_co") || strstr(s->callee->name, "_self") ||
                      strstr(s->callee->name, "current") || strstr(s->callee->name, "running")))
      return true;
  return false;
}

static void tell_path(struct program *p, struct check_finding *f, const struct reached *r) {
  if (!r->from)
    return;
  tell_path(p, f, r->from);
  finding_note(p, f, r->from->function->body->file, r->call->line, "'%s' calls '%s'%s",
               r->from->function->name, r->function->name, call_through(p, r->call));
}

static void tell(struct program *p, const struct rule *rule, const struct reached *r,
                 const struct ir_step *s) {
  const struct ir_function *in = r->function;
  struct check_finding *f = finding_begin(p, rule, in->body->file, s->line, s->callee->name);
  f->text = r->from ? say(p, "'%s' waits, and no future runs where 'main' comes to '%s'",
                          s->callee->name, in->name)
                    : say(p, "'%s' waits, and no future runs in 'main'", s->callee->name);
  tell_path(p, f, r);
  finding_note(p, f, in->body->file, s->line, "'%s' waits in '%s'", in->name, s->callee->name);
  f->mend = "make a coroutine for it, and run the loop; or call what does the same at once";
}

static void judge(struct program *p, const struct rule *rule) {
  struct walk w = {0};
  struct ir_function *first = program_function(p, "main");
  if (first && first->body && !judged_of(first)->async)
    reach(&w, first, NULL, NULL);
  for (size_t i = 0; i < w.count; i++) {
    const struct reached *r = w.list[i];
    if (asks(r->function))
      continue;
    struct facts **in = flow_known(r->function->body, &(struct facts){0});
    EACH_LIVE_STEP (r->function->body, s) {
      if (!in[k_ - r->function->body->block])
        continue; /* behind a condition that is never true */
      const struct lang_about *await = s->callee ? line_at(r->function->body, s, LANG_AWAIT) : NULL;
      if (await && !main_may_wait(await))
        tell(p, rule, r, s);
      for (size_t t = 0; !await && t < s->targets + !!s->callee; t++) {
        struct ir_function *next = s->callee ? s->callee : s->target[t];
        if (next->body && is_plain(next) && program_awaits(next))
          reach(&w, next, r, s);
      }
    }
  }
}

const struct rule rule_outside = {
    {"await-outside-async", "a wait that the program comes to where no future runs"}, judge};
