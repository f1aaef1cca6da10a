/* SPDX-License-Identifier: MIT */
/* The document that a page draws: what went on as time went; see page.h. */
#include "page.h"

static double rate(double part, double whole) {
  return whole > 0 ? part / whole : -1;
}

static bool is_known(const struct moments *m) {
  for (size_t i = 0; m && i < MOMENTS; i++)
    if (m->of[i].covered > 0)
      return true;
  return false;
}

/* Arrays in place of objects; the latest last. */
void page_emit_history(struct emit *e, const struct moments *m) {
  static const char *const columns[] = {"age_ns", "busy", "hold_ns", "late_ns",
                                        "requests_per_second"};
  e->gap = "\n";
  if (!is_known(m)) {
    emit_null(e, "history");
    return;
  }
  emit_open(e, "history", '{');
  emit_number(e, "step_ns", m->step);
  emit_open(e, "columns", '[');
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    emit_text(e, NULL, columns[i]);
  emit_close(e, ']');
  emit_open(e, "rows", '[');
  for (size_t i = 0; i < MOMENTS; i++) {
    const struct moment *one = &m->of[i];
    bool known = one->covered > 0;
    emit_row(e);
    emit_open(e, NULL, '[');
    emit_number(e, NULL, (MOMENTS - 1 - i) * m->step + m->step / 2);
    emit_share(e, NULL, rate(one->busy, one->elapsed), 6);
    emit_maybe(e, NULL, one->hold, known);
    emit_maybe(e, NULL, one->late, known);
    emit_share(e, NULL, known ? one->requests * 1e9 / (double)m->step : -1, 4);
    emit_close(e, ']');
  }
  emit_close(e, ']');
  emit_close(e, '}');
}
