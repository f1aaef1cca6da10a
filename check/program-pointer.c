/* SPDX-License-Identifier: MIT */
/*
 * What calls through pointers may be: the functions that the program puts where the pointer comes
 * from, whatever object that is of. Where something unknown is put too, it stays unknown.
 */
#include "program.h"

#include "read/util.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Functions that are put somewhere, as into tables, for objects of one kind or another; and those
   that are handed over to be called, of which each is. */
enum { MOST_TARGETS = 4, MOST_GIVEN = 256 };

/* A place for functions (check/lower-slot.c). */
struct slot {
  const char *name;
  struct ir_function **put;
  struct slot **from; /* what is put there comes from these, too */
  size_t puts, froms;
  unsigned seen; /* the question that last came here */
  bool open;     /* it gets what is not known */
  bool argument; /* of a function */
  bool outside;  /* which others may call */
};

struct slots {
  struct program *program;
  void *by_name;
  unsigned question;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct slot *)a)->name, ((const struct slot *)b)->name);
}

/* What a function is given that is called through pointers itself is not all seen. */
static bool is_open_argument(struct program *p, const char *name, struct slot *slot) {
  const char *sign = strrchr(name, '#');
  if (!sign || strchr(sign, '@'))
    return false;
  char *key = print_string("%.*s", (int)(sign - name), name);
  const struct ir_function *f = program_function(p, key);
  free(key);
  slot->argument = true;
  slot->outside = f && !(f->flags & IR_STATIC);
  return !f || !f->body || f->given;
}

static struct slot *slot_at(struct slots *s, const char *name) {
  struct slot **found = tfind(&(struct slot){.name = name}, &s->by_name, by_name);
  if (found)
    return *found;
  struct slot *slot = allocate(1, sizeof *slot);
  slot->name = name;
  slot->open = is_open_argument(s->program, name, slot);
  tsearch(slot, &s->by_name, by_name);
  return slot;
}

static void note_opened(struct slots *s, const char *text) {
  const char *from = strchr(text, IR_FROM);
  if (!from) {
    slot_at(s, text)->open = true;
    return;
  }
  struct slot *to = slot_at(s, print_string("%.*s", (int)(from - text), text));
  to->from = ir_grow(to->from, to->froms, sizeof(struct slot *));
  to->from[to->froms++] = slot_at(s, from + 1);
}

/* -- questions ------------------------------------------------------------------------------- */

struct targets {
  struct ir_function *list[MOST_GIVEN];
  size_t count, direct; /* direct: that are no arguments */
  bool open, all;       /* all: whatever else there may be */
};

static void add_target(struct targets *t, struct ir_function *f) {
  for (size_t i = 0; i < t->count; i++)
    if (t->list[i] == f)
      return;
  if (t->count < MOST_GIVEN)
    t->list[t->count++] = f;
  else
    t->open = true;
}

static void collect(struct slots *s, struct slot *slot, struct targets *t) {
  if (slot->seen == s->question || (t->open && !t->all))
    return;
  slot->seen = s->question;
  t->open |= slot->open || (slot->outside && !slot->puts && !slot->froms);
  t->direct += slot->argument ? 0 : slot->puts;
  for (size_t i = 0; i < slot->puts; i++)
    add_target(t, slot->put[i]);
  for (size_t i = 0; i < slot->froms; i++)
    collect(s, slot->from[i], t);
}

static void resolve(struct slots *s, struct ir_step *call) {
  bool virtual = !strncmp(call->to, "virtual:", 8);
  const char *name = virtual ? call->to : call->value;
  struct slot **slot = name ? tfind(&(struct slot){.name = name}, &s->by_name, by_name) : NULL;
  struct targets t = {0};
  s->question++;
  if (slot)
    collect(s, *slot, &t);
  bool own = slot && (*slot)->argument; /* who visits what, the callers alone know */
  if (!t.count || t.open || (own ? t.count : t.direct) > MOST_TARGETS)
    return;
  if (t.count == 1) { /* as if it were called by its name */
    call->kind = IR_CALL;
    call->callee = t.list[0];
    call->to = t.list[0]->key;
    return;
  }
  call->targets = t.count;
  call->target = arena_get(&s->program->arena, t.count, sizeof(struct ir_function *));
  memcpy(call->target, t.list, t.count * sizeof(struct ir_function *));
}

size_t program_given(struct program *p, const struct ir_function *in, const char *value,
                     struct ir_function ***list) {
  struct slots *s = p->slots;
  char *end;
  unsigned long id = value[0] == '$' ? strtoul(value + 1, &end, 10) : 0;
  if (value[0] != '$' || *end || id >= in->body->variables)
    return 0;
  bool parameter = in->body->variable[id].flags & IR_PARAMETER;
  char *name = print_string("%s%c%lu", in->key, parameter ? '#' : '$', id);
  struct slot **slot = tfind(&(struct slot){.name = name}, &s->by_name, by_name);
  struct targets t = {.all = true};
  s->question++;
  if (slot)
    collect(s, *slot, &t);
  free(name);
  *list = arena_get(&p->arena, t.count + 1, sizeof(struct ir_function *));
  memcpy(*list, t.list, t.count * sizeof(struct ir_function *));
  return t.count;
}

void program_point(struct program *p) {
  struct slots *s = p->slots = allocate(1, sizeof *s);
  s->program = p;
  EACH_FUNCTION (p, f)
    for (size_t i = 0; i < f->fields.count; i++) {
      struct slot *slot = slot_at(s, f->fields.text[i]);
      if (strncmp(slot->name, "virtual:", 8) || f->body) { /* pure ones are never called */
        slot->put = ir_grow(slot->put, slot->puts, sizeof f);
        slot->put[slot->puts++] = f;
      }
    }
  for (size_t i = 0; i < p->opened.count; i++)
    note_opened(s, p->opened.text[i]);
  EACH_FUNCTION (p, f)
    if (f->body)
      EACH_STEP (f->body, step)
        if (step->kind == IR_ICALL)
          resolve(s, step);
}

bool pointer_is_named(const struct ir_step *s) {
  const char *at = s->value ? strchr(s->value, '@') : NULL;
  return s->value &&
         (!strncmp(s->value, "virtual ", 8) || (at && at > s->value && !strpbrk(at, "#$")));
}

/* "struct.member@FILE" without the file. */
const char *pointer_text(struct program *p, const struct ir_step *s) {
  const char *place = s->value;
  if (!pointer_is_named(s))
    return "a pointer that is not known";
  if (!strncmp(place, "virtual ", 8))
    return place;
  char *name = print_string("%.*s", (int)strcspn(place, "@"), place);
  const char *kept = arena_text(&p->arena, name);
  free(name);
  return kept;
}
