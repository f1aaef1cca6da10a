/* SPDX-License-Identifier: MIT */
/* The document that a page draws: requests by kind, the slowest, and those that go on; see page.h.
 */
#include "ask/beneath.h"
#include "ask/requests.h"
#include "page.h"
#include "read/util.h"
#include "totals.h"

enum { LIVE_MOST = 200 };

static void add_time(struct emit *e, const char *name, uint64_t ns) {
  emit_maybe(e, name, ns, ns != UNKNOWN);
}

static void emit_tier(struct emit *e, const struct view_tier *t, const struct view_kind *k) {
  emit_open(e, NULL, '{');
  emit_members(e, &layout_tier, t, NULL);
  emit_share(e, "share", k->member ? (double)ask_tier_time(t) / (double)k->member : -1, 6);
  add_time(e, "exec_mean_ns", ask_each(t->exec.sum, t->count));
  add_time(e, "waiting_mean_ns", ask_each(t->waiting.sum, t->count));
  emit_close(e, '}');
}

static void emit_slow(struct emit *e, const struct view_slow *s) {
  emit_open(e, NULL, '{');
  emit_members(e, &layout_slow, s, NULL);
  emit_number(e, "member_ns", s->member);
  emit_close(e, '}');
}

static void emit_kind(struct emit *e, const struct view *v, const struct view_kind *k) {
  static const char all[] =
      "kind labelled function file line implicit count failed live after after_exec_ns wall_ns "
      "wall_max_ns wall queued_ns queued_max_ns queued exec_ns exec_max_ns exec waiting_ns "
      "waiting_max_ns waiting other_exec_ns other_waiting_ns";
  const struct view_function *root = ask_root_of(v, k);
  uint64_t span = v->process.measured != UNKNOWN ? v->process.measured : v->process.elapsed;
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_members(e, &layout_kind, k, all);
  emit_text(e, "name", ask_kind_name(v, k));
  emit_maybe(e, "function_index", root ? (uint64_t)(root - v->function) : 0, root != NULL);
  emit_number(e, "kinds_of_function", root ? ask_kinds_of_root(v, root) : 1);
  emit_share(e, "per_second", span ? (double)k->count * 1e9 / (double)span : -1, 4);
  emit_number(e, "member_ns", k->member);
  add_time(e, "wall_mean_ns", ask_each(k->wall.sum, k->count));
  emit_lacks(e, &layout_kind, view_lacks(v, v->shed));
  emit_open(e, "tiers", '[');
  for (size_t i = 0; i < k->tiers; i++)
    emit_tier(e, &k->tier[i], k);
  emit_close(e, ']');
  emit_open(e, "slowest", '[');
  for (size_t i = 0; i < k->slows; i++)
    emit_slow(e, &k->slow[i]);
  emit_close(e, ']');
  emit_close(e, '}');
}

static void emit_live(struct emit *e, const struct view *v, const struct view_pending *p) {
  const struct view_live *at = ask_holder(v, p);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_members(e, &layout_pending, p, NULL);
  emit_text(e, "holder", at ? at->name : NULL);
  emit_text(e, "holder_state", at ? at->state : NULL);
  emit_text(e, "holder_at", at ? at->place : NULL);
  emit_close(e, '}');
}

void page_emit_requests(struct emit *e, const struct view *v) {
  emit_list(e, "requests");
  for (size_t i = 0; i < v->kinds; i++)
    if (ask_is_active(&v->kind[i]))
      emit_kind(e, v, &v->kind[i]);
  emit_close(e, ']');
  emit_list(e, "live_requests");
  for (size_t i = 0; i < v->pendings && i < LIVE_MOST; i++)
    emit_live(e, v, &v->pending[i]);
  emit_close(e, ']');
}
