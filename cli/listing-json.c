/* SPDX-License-Identifier: MIT */
/* Profiles as JSON, for aprof.list/1; see listing.h. */
#include "listing.h"

static void row_json(const struct listed *row, int64_t now, struct emit *e) {
  emit_open(e, NULL, '{');
  emit_signed(e, "pid", row->pid);
  emit_text(e, "state", row->state);
  emit_text(e, "name", row->name);
  emit_text(e, "host", row->host);
  emit_text(e, "build_id", row->build);
  emit_text(e, "labels", row->labels);
  emit_number(e, "age_ns", now > row->started ? (uint64_t)(now - row->started) : 0);
  emit_number(e, "created", row->created);
  emit_number(e, "live", row->live);
  emit_number(e, "memory", row->memory);
  emit_text(e, "profile", row->path);
  emit_text(e, "refused_module", row->refused);
  emit_number(e, "refused_modules", row->refusals);
  emit_close(e, '}');
}

void listing_json(struct listing *list, struct emit *e) {
  int64_t now = listing_now();
  listing_sort(list);
  emit_open(e, "profiles", '[');
  for (size_t i = 0; i < list->rows; i++) {
    emit_row(e);
    row_json(&list->row[i], now, e);
  }
  emit_close(e, ']');
}
