/* SPDX-License-Identifier: MIT */
/* Requests by kind; see requests.h. */
#include "requests.h"

#include "read/util.h"

#include <fnmatch.h>
#include <string.h>

const struct option_row request_options[] = {
    {"kind", 0, OPTION_TEXT, offsetof(struct request_filter, kind), "KIND",
     .text = "Of requests only those of this kind (with * and ?: all that match)"},
    {"tier", 0, OPTION_TEXT, offsetof(struct request_filter, tier), "TIER",
     .text = "Of kinds of requests only those that were in this tier (with * and ?: in any that "
             "matches)"},
    {0}};

static bool matches(const struct request_filter *f, const char *pattern, const char *name) {
  return !pattern || !strcmp(pattern, name) || (!f->exact && !fnmatch(pattern, name, 0));
}

static bool has_tier(const struct view_kind *k, const struct request_filter *f) {
  for (size_t i = 0; i < k->tiers; i++)
    if (matches(f, f->tier, k->tier[i].name))
      return true;
  return !f->tier;
}

bool ask_is_meant(const struct request_filter *f, const struct view_kind *k) {
  return matches(f, f->kind, k->kind) && has_tier(k, f);
}

static bool is_kept(const struct view_pending *p, size_t count, const struct view_live *live) {
  for (size_t i = 0; live->request && i < count; i++)
    if (p[i].id == live->request && p[i].process == live->process)
      return true;
  return false;
}

bool ask_keep_requests(struct view *v, const struct request_filter *f) {
  size_t kinds = 0, pendings = 0, lives = 0;
  if (!f->kind && !f->tier)
    return true;
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_is_meant(f, &v->kind[i]))
      v->kind[kinds++] = v->kind[i];
  for (size_t i = 0; i < v->pendings; i++)
    if (matches(f, f->kind, v->pending[i].kind))
      v->pending[pendings++] = v->pending[i];
  for (size_t i = 0; f->kind && i < v->lives; i++)
    if (is_kept(v->pending, pendings, &v->live[i]))
      v->live[lives++] = v->live[i];
  v->lives = f->kind ? lives : v->lives;
  v->kinds = kinds;
  v->pendings = pendings;
  return kinds != 0;
}

bool ask_any_requests(const struct view *v, const struct request_filter *f) {
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_is_meant(f, &v->kind[i]))
      return true;
  if (!f->kind && !f->tier)
    return true;
  complain("%s has no requests of %s %s%s", v->what, f->kind ? "kind" : "tier",
           f->kind ? f->kind : f->tier,
           v->kinds ? "; without that option all kinds are shown" : ", nor of any other");
  return false;
}

const char *ask_kind_name(const struct view *v, const struct view_kind *k) {
  for (size_t i = 0; i < v->kinds; i++)
    if (&v->kind[i] != k && !strcmp(v->kind[i].kind, k->kind))
      return turn_text("%s (%s)", k->kind, k->function);
  return k->kind;
}

/* Who is aside waits for what runs on its stack, and who awaits a call for that. */
static bool is_leaf(const struct view_live *live) {
  return !live->aside && !live->background && !(live->kind && !strcmp(live->kind, "call"));
}

const struct view_live *ask_holder(const struct view *v, const struct view_pending *p) {
  const struct view_live *holder = NULL;
  for (size_t i = 0; i < v->lives; i++) {
    const struct view_live *live = &v->live[i];
    if (live->request != p->id || live->process != p->process)
      continue;
    if (!holder || is_leaf(live) > is_leaf(holder) ||
        (is_leaf(live) == is_leaf(holder) && live->since > holder->since))
      holder = live;
  }
  return holder;
}

uint64_t ask_requests(const struct view *v) {
  uint64_t all = 0;
  for (size_t i = 0; i < v->kinds; i++)
    add_to(&all, plus(v->kind[i].count, v->kind[i].live));
  return all;
}
