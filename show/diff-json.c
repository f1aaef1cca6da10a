/* SPDX-License-Identifier: MIT */
/* A comparison as JSON, aprof.diff/1; see diff.h. */
#include "diff.h"
#include "emit.h"
#include "format.h"
#include "gates.h"
#include "totals.h"

#include <math.h>
#include <string.h>

/* Times and counts are integers, shares have what is behind the point. */
static void add_value(struct emit *e, const char *name, enum measure_unit unit, double value) {
  if (isnan(value) || isinf(value))
    emit_null(e, name);
  else if (unit == UNIT_SHARE)
    emit_float(e, name, value, 6);
  else
    emit_signed(e, name, (int64_t)llround(value));
}

static void maybe_bool(struct emit *e, const char *name, bool value, bool known) {
  if (known)
    emit_bool(e, name, value);
  else
    emit_null(e, name);
}

static void emit_runs(struct emit *e, const struct diff *d, int side) {
  size_t first = diff_first(d, side);
  emit_open(e, side == DIFF_A ? "a" : "b", '[');
  for (size_t i = first; i < first + d->side[side]; i++) {
    const struct view *v = d->view[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "totals", v->what);
    emit_members(e, &layout_process, &v->process,
                 "pid name command host started_at build_id elapsed_ns");
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

static void emit_spread(struct emit *e, const char *name, enum measure_unit unit,
                        const struct spread *s) {
  emit_open(e, name, '{');
  add_value(e, "median", unit, s->median);
  add_value(e, "least", unit, s->least);
  add_value(e, "most", unit, s->most);
  emit_number(e, "runs", s->runs);
  emit_close(e, '}');
}

/* What neither side knows is left out. */
static void emit_measures(struct emit *e, const struct diff *d, const struct diff_row *row,
                          enum measure_of of) {
  emit_open(e, "measures", '{');
  for (size_t i = 0; i < measure_count; i++) {
    const struct measure *m = &measures[i];
    struct change c;
    if (m->of != of || (c = diff_change(d, row, m), !c.side[DIFF_A].runs && !c.side[DIFF_B].runs))
      continue;
    emit_open(e, m->name, '{');
    emit_spread(e, "a", m->unit, &c.side[DIFF_A]);
    emit_spread(e, "b", m->unit, &c.side[DIFF_B]);
    add_value(e, "change", m->unit, c.by);
    add_value(e, "change_percent", UNIT_SHARE, 100 * c.ratio);
    maybe_bool(e, "beyond_spread", c.beyond, d->has_spread);
    emit_bool(e, "lacks", c.side[DIFF_A].lacks || c.side[DIFF_B].lacks);
    emit_close(e, '}');
  }
  emit_close(e, '}');
}

static void emit_one(struct emit *e, const struct diff *d, const struct diff_row *row) {
  emit_row(e);
  emit_open(e, NULL, '{');
  bool request = row->sort == MEASURE_REQUEST || row->sort == MEASURE_TIER;
  if (request)
    emit_text(e, "kind", row->name);
  if (row->sort == MEASURE_TIER)
    emit_text(e, "tier", row->callee);
  emit_text(e, "function", request ? row->kind : row->name);
  if (row->sort == MEASURE_AWAIT) {
    emit_text(e, "callee", row->callee);
    emit_text(e, "kind", row->kind);
    emit_bool(e, "background", row->background);
  }
  emit_place(e, "at_a", row->file[DIFF_A], row->line[DIFF_A]);
  emit_place(e, "at_b", row->file[DIFF_B], row->line[DIFF_B]);
  emit_bool(e, "in_a", diff_is_there(d, row, DIFF_A));
  emit_bool(e, "in_b", diff_is_there(d, row, DIFF_B));
  emit_measures(e, d, row, row->sort);
  emit_close(e, '}');
}

static void emit_rows(struct emit *e, const struct diff *d, const char *name,
                      enum measure_of sort) {
  emit_list(e, name);
  for (size_t i = 1; i < d->rows; i++)
    if (d->row[i].sort == sort)
      emit_one(e, d, &d->row[i]);
  emit_close(e, ']');
}

void diff_json(const struct diff_shown *shown, FILE *out) {
  const struct diff *d = shown->diff;
  struct emit e;
  emit_begin(&e, out, "aprof.diff/1");
  e.gap = "\n";
  emit_runs(&e, d, DIFF_A);
  e.gap = "\n";
  emit_runs(&e, d, DIFF_B);
  e.gap = "\n";
  maybe_bool(&e, "other_build", d->other_build == 1, d->other_build >= 0);
  emit_open(&e, "notes", '[');
  for (size_t i = 0; i < d->notes; i++)
    emit_text(&e, NULL, shown_sentence(d->note[i]));
  emit_close(&e, ']');
  gates_json(&e, shown->gate, shown->gates);
  e.gap = "\n";
  emit_open(&e, "process", '{');
  emit_measures(&e, d, &d->row[0], MEASURE_PROCESS);
  emit_close(&e, '}');
  emit_rows(&e, d, "functions", MEASURE_FUNCTION);
  emit_rows(&e, d, "awaits", MEASURE_AWAIT);
  emit_rows(&e, d, "requests", MEASURE_REQUEST);
  emit_rows(&e, d, "tiers", MEASURE_TIER);
  emit_end(&e);
}
