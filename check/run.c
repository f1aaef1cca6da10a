/* SPDX-License-Identifier: MIT */
/* From units to findings: the run of all rules; see check.h. */
#include "findings.h"
#include "flow.h"
#include "read/util.h"
#include "rules.h"
#include "unit.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct rule *const rules[] = {
#define RULE_ROW(NAME) &rule_##NAME,
    RULES(RULE_ROW)};
enum { ALL_RULES = sizeof rules / sizeof *rules };

const struct check_rule *check_rule(size_t row) {
  return row < ALL_RULES ? &rules[row]->is : NULL;
}

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *ftw) {
  (void)state, (void)kind, (void)ftw;
  return remove(path);
}

static bool read_lines(struct program *p, const char *name) {
  const struct lang_file *file = lang_set_add(p->lines, name);
  for (size_t i = 0; i < file->errors; i++) {
    const struct lang_error *e = &file->error[i];
    complain("%s:%u:%u: %s%s%s", e->file, e->line, e->column, e->text, *e->remedy ? "; " : "",
             e->remedy);
  }
  return !file->errors;
}

static void read_unit(struct program *p, const struct unit *unit, const char *path) {
  struct ir_unit summary = {0};
  char *text = unit->trouble ? NULL : read_text_file(path, (size_t)1 << 30, &(size_t){0});
  if (unit->trouble || !text || !ir_read(&summary, &p->arena, text)) {
    p->unread++;
    trouble_add(p, unit->file, 0, unit->trouble ? unit->trouble : "what was read of it is damaged");
    return;
  }
  p->unread += summary.errors && !summary.functions;
  if (summary.errors)
    trouble_add(p, unit->file, 0,
                say(p, "%zu %s, what they touch is not seen: %s", summary.errors,
                    summary.errors == 1 ? "error" : "errors",
                    summary.problems.count ? summary.problems.text[0] : ""));
  program_add(p, &summary);
}

static bool list_units(const struct check_request *r, struct units *units) {
  units->base = getcwd(NULL, 0);
  if (!units->base) {
    complain("the current directory is not there: go to another one");
    return false;
  }
  return r->database ? units_of_database(units, r->database, r->file, r->files)
                     : units_of_files(units, r->file, r->files, r->flag, r->flags);
}

/* A folder for summaries of this run; they are linked into the cache. NULL after a message. */
static char *make_folder(const struct check_request *r) {
  const char *tmp = r->cache ? r->cache : getenv("TMPDIR");
  char *folder = print_string("%s/aprof-check.XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (mkdtemp(folder))
    return folder;
  complain("no folder can be made in %s: %s", tmp && *tmp ? tmp : "/tmp",
           r->cache ? "name another one with --cache" : "set TMPDIR to another one");
  free(folder);
  return NULL;
}

bool program_read(struct program *p, const struct check_request *r, struct program_size *size) {
  struct units *units = allocate(1, sizeof *units);
  if (!list_units(r, units))
    return false;
  p->lines = lang_set_new(r->shipped);
  bool well = read_lines(p, "blocking"); /* whatever headers the program reads */
  for (size_t i = 0; i < r->binding_files; i++)
    well &= read_lines(p, r->bindings[i]);
  for (size_t i = 0; i < units->bindings.count; i++)
    well &= read_lines(p, units->bindings.text[i]);
  char *folder = well ? make_folder(r) : NULL;
  if (!folder)
    return false;
  for (size_t i = 0; i < units->count && r->include; i++) {
    unit_add_flag(&units->unit[i], "-idirafter");
    unit_add_flag(&units->unit[i], r->include);
  }
  struct summaries summaries = {.folder = folder, .cache = r->cache, .jobs = r->jobs};
  units_summarize(units, &summaries);
  for (size_t i = 0; i < units->count; i++) {
    char *path = print_string("%s/%zu.ir", folder, i);
    read_unit(p, &units->unit[i], path);
    free(path);
  }
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(folder);
  *size = (struct program_size){units->count, summaries.kept};
  return true;
}

bool check_run(const struct check_request *r, struct check_result *result) {
  struct program *p = allocate(1, sizeof *p);
  struct program_size size;
  if (!program_read(p, r, &size))
    return false;
  program_link(p);
  flow_settle(p);
  program_await(p);
  p->part = r->database && r->files;
  for (size_t i = 0; i < ALL_RULES; i++)
    rules[i]->judge(p, rules[i]);
  EACH_FUNCTION (p, f)
    if (f->body && flow_is_large(f->body))
      trouble_add(p, f->body->file, f->body->line,
                  say(p, "'%s' is too large: not all ways through it were followed", f->name));
  findings_settle(p);
  *result = (struct check_result){.finding = p->finding,
                                  .findings = p->findings,
                                  .trouble = p->trouble,
                                  .troubles = p->troubles,
                                  .pointer = p->pointer,
                                  .pointers = p->pointers,
                                  .units = size.units,
                                  .unread = p->unread,
                                  .functions = p->functions,
                                  .kept = size.kept};
  return true;
}
