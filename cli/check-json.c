/* SPDX-License-Identifier: MIT */
/* Findings for programs: our own JSON, and SARIF 2.1.0; see check-json.h. */
#include "check-json.h"

#include "check-source.h"
#include "read/util.h"
#include "show/emit.h"

#include <stdlib.h>
#include <string.h>

static struct emit *begin(FILE *out) {
  struct emit *e = allocate(1, sizeof *e);
  emit_begin(e, out, NULL);
  return e;
}

static void end(struct emit *e) {
  emit_end(e);
  free(e);
}

/* -- our own ------------------------------------------------------------------------------ */

static void emit_place_members(struct emit *e, const struct check_place *at) {
  emit_text(e, "file", at->file);
  emit_maybe(e, "line", at->line, at->line != 0);
}

static void emit_unseen(struct emit *e, const char *name, const struct check_unseen *list,
                        size_t count) {
  emit_open(e, name, '[');
  for (size_t i = 0; i < count; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_place_members(e, &list[i].at);
    emit_text(e, "text", list[i].text);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

void check_json(const void *result, FILE *out) {
  const struct check_result *r = result;
  struct emit *e = begin(out);
  emit_text(e, "schema", "aprof.check/1");
  emit_number(e, "units", r->units);
  emit_number(e, "unread_units", r->unread);
  emit_number(e, "seen_functions", r->functions);
  emit_number(e, "from_cache", r->kept);
  emit_number(e, "left_out", r->left_out);
  emit_open(e, "findings", '[');
  for (const struct check_finding *f = r->finding; f < r->finding + r->findings; f++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "rule", f->rule);
    emit_place_members(e, &f->at);
    emit_text(e, "word", f->word);
    emit_text(e, "text", f->text);
    emit_text(e, "mend", f->mend);
    emit_open(e, "path", '[');
    for (size_t i = 0; i < f->steps; i++) {
      emit_open(e, NULL, '{');
      emit_place_members(e, &f->path[i].at);
      emit_text(e, "text", f->path[i].text);
      emit_close(e, '}');
    }
    emit_close(e, ']');
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_unseen(e, "unseen_units", r->trouble, r->troubles);
  emit_unseen(e, "unseen_calls", r->pointer, r->pointers);
  end(e);
}

/* -- SARIF --------------------------------------------------------------------------------- */

static void emit_message(struct emit *e, const char *name, const char *text) {
  emit_open(e, name, '{');
  emit_text(e, "text", text);
  emit_close(e, '}');
}

/* A path as a URI: from the root, or relative to where the program is. */
static char *uri_of(const char *path) {
  char *uri = allocate(strlen(path) * 3 + sizeof "file://", 1), *to = uri;
  if (*path == '/')
    to += sprintf(to, "file://");
  for (; *path; path++)
    to += (*path >= '0' && *path <= '9') || strchr("/._-~", *path) ||
                  ((*path | 32) >= 'a' && (*path | 32) <= 'z')
              ? sprintf(to, "%c", *path)
              : sprintf(to, "%%%02X", (unsigned char)*path);
  return uri;
}

/* The column from 1, or 0 for the whole line. */
static void emit_location(struct emit *e, const char *name, const struct check_place *at,
                          const char *text, size_t column, size_t width) {
  char *uri = uri_of(at->file);
  emit_open(e, name, '{');
  emit_open(e, "physicalLocation", '{');
  emit_open(e, "artifactLocation", '{');
  emit_text(e, "uri", uri);
  emit_close(e, '}');
  if (at->line) {
    emit_open(e, "region", '{');
    emit_number(e, "startLine", at->line);
    if (column) {
      emit_number(e, "startColumn", column);
      emit_number(e, "endColumn", column + width);
    }
    emit_close(e, '}');
  }
  emit_close(e, '}');
  if (text)
    emit_message(e, "message", text);
  emit_close(e, '}');
  free(uri);
}

static void emit_path(struct emit *e, const struct check_finding *f) {
  emit_open(e, "codeFlows", '[');
  emit_open(e, NULL, '{');
  emit_open(e, "threadFlows", '[');
  emit_open(e, NULL, '{');
  emit_open(e, "locations", '[');
  for (size_t i = 0; i < f->steps; i++) {
    emit_open(e, NULL, '{');
    emit_location(e, "location", &f->path[i].at, f->path[i].text, 0, 0);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_close(e, '}');
  emit_close(e, ']');
  emit_close(e, '}');
  emit_close(e, ']');
}

static void emit_result(struct emit *e, const struct check_finding *f, size_t rule,
                        struct source *source) {
  size_t width = 0, column = 0;
  char *line = source_line(source, &f->at);
  if (line)
    column = source_column(line, f->word, &width) + 1;
  char *text = print_string("%s. To mend it, %s.", f->text, f->mend);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "ruleId", f->rule);
  emit_number(e, "ruleIndex", rule);
  emit_text(e, "level", "warning");
  emit_message(e, "message", text);
  emit_open(e, "locations", '[');
  emit_location(e, NULL, &f->at, NULL, column, width);
  emit_close(e, ']');
  if (f->steps)
    emit_path(e, f);
  emit_open(e, "partialFingerprints", '{');
  emit_text(e, "aprofFinding/v1", f->identity);
  emit_close(e, '}');
  emit_close(e, '}');
  free(text);
  free(line);
}

static void emit_tool(struct emit *e) {
  const struct check_rule *rule;
  emit_open(e, "tool", '{');
  emit_open(e, "driver", '{');
  emit_text(e, "name", "aprof check");
  emit_text(e, "version", APROF_VERSION);
  emit_open(e, "rules", '[');
  for (size_t row = 0; (rule = check_rule(row)); row++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "id", rule->name);
    emit_message(e, "shortDescription", rule->text);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_close(e, '}');
  emit_close(e, '}');
}

static void emit_troubles(struct emit *e, const struct check_result *r) {
  emit_open(e, "invocations", '[');
  emit_open(e, NULL, '{');
  emit_bool(e, "executionSuccessful", r->unread < r->units);
  emit_open(e, "toolExecutionNotifications", '[');
  for (size_t i = 0; i < r->troubles; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "level", "warning");
    emit_message(e, "message", r->trouble[i].text);
    emit_open(e, "locations", '[');
    emit_location(e, NULL, &r->trouble[i].at, NULL, 0, 0);
    emit_close(e, ']');
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_close(e, '}');
  emit_close(e, ']');
}

static size_t index_of(const char *name) {
  size_t row = 0;
  for (const struct check_rule *rule; (rule = check_rule(row)) && strcmp(rule->name, name);)
    row++;
  return row;
}

void check_sarif(const void *result, FILE *out) {
  const struct check_result *r = result;
  struct source source = {0};
  struct emit *e = begin(out);
  emit_text(e, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  emit_text(e, "version", "2.1.0");
  emit_open(e, "runs", '[');
  emit_open(e, NULL, '{');
  emit_tool(e);
  emit_troubles(e, r);
  emit_text(e, "columnKind", "utf16CodeUnits");
  emit_open(e, "results", '[');
  for (size_t i = 0; i < r->findings; i++)
    emit_result(e, &r->finding[i], index_of(r->finding[i].rule), &source);
  emit_close(e, ']');
  emit_close(e, '}');
  emit_close(e, ']');
  end(e);
  free(source.text);
}
