/* SPDX-License-Identifier: MIT */
/* Totals written, as JSON; see written-json.h. */
#include "written-json.h"

#include "load.h"
#include "read/util.h"
#include "show/emit.h"

#include <limits.h>
#include <stdlib.h>

static void row_json(struct emit *e, const char *path) {
  struct view *v = view_load(path, &(struct view_request){.without_histograms = true});
  char *whole = realpath(path, NULL);
  emit_open(e, NULL, '{');
  emit_text(e, "file", whole ? whole : path);
  emit_text(e, "name", v ? v->process.name : NULL);
  if (v)
    emit_signed(e, "pid", v->process.pid);
  else
    emit_null(e, "pid");
  emit_text(e, "reason", v ? v->process.reason : NULL);
  emit_text(e, "started_at", v ? v->process.started_at : NULL);
  emit_close(e, '}');
  free(whole);
  view_free(v);
}

void written_json(char *const *path, size_t count, const struct written_run *run, FILE *out) {
  struct emit *e = allocate(1, sizeof *e);
  emit_begin(e, out, "aprof.written/1");
  emit_open(e, "totals", '[');
  for (size_t i = 0; i < count; i++)
    row_json(e, path[i]);
  emit_close(e, ']');
  if (run)
    emit_signed(e, "status", run->status);
  else
    emit_null(e, "status");
  emit_number(e, "living", run ? run->going : 0);
  emit_bool(e, "complete", !run || run->known);
  emit_end(e);
  free(e);
}
