/* SPDX-License-Identifier: MIT */
/* Which findings count: not those that are known already, and of changed lines alone; see select.h.
 */
#include "select.h"

#include "read/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20 };

/* -- known ones ------------------------------------------------------------------------------ */

/* Lines of a file that are still to be met. */
struct known {
  char **line;
  size_t count;
};

static bool take(struct known *k, const char *identity) {
  for (size_t i = 0; i < k->count; i++)
    if (k->line[i] && !strcmp(k->line[i], identity)) {
      k->line[i] = NULL;
      return true;
    }
  return false;
}

static void drop(struct check_result *r, struct check_finding *list, size_t *kept, size_t i,
                 bool is_out) {
  if (is_out)
    r->left_out++;
  else
    list[(*kept)++] = list[i];
}

bool select_unknown(struct check_result *r, const char *path) {
  char *text = read_text_file(path, MOST_BYTES, &(size_t){0}), *rest = text, *line;
  struct known known = {0};
  if (!text) {
    complain("baseline %s cannot be read: %s; --write-baseline=FILE makes one", path,
             strerror(errno));
    return false;
  }
  while ((line = strsep(&rest, "\n"))) {
    if (!*line || *line == '#')
      continue;
    known.line = reallocate(known.line, known.count + 1, sizeof *known.line);
    known.line[known.count++] = line;
  }
  struct check_finding *list = (struct check_finding *)r->finding;
  size_t kept = 0;
  for (size_t i = 0; i < r->findings; i++)
    drop(r, list, &kept, i, take(&known, list[i].identity));
  r->findings = kept;
  free(known.line);
  free(text);
  return true;
}

void select_write(const void *result, FILE *out) {
  const struct check_result *r = result;
  fputs("# aprof check: findings that are known. A line each; take out what is mended.\n", out);
  for (size_t i = 0; i < r->findings; i++)
    fprintf(out, "%s\n", r->finding[i].identity);
}

/* -- changed lines ------------------------------------------------------------------------------
 */

struct change {
  const char *file;
  unsigned first, count;
};

struct changes {
  struct change *list;
  size_t count;
};

/* "b/src/x.c", as Git writes it, is src/x.c, and so may a/b/src/x.c be: the end decides. */
static bool is_file(const char *shown, const char *changed) {
  if (!strncmp(changed, "b/", 2))
    changed += 2;
  size_t one = strlen(shown), other = strlen(changed);
  const char *longer = one > other ? shown : changed, *shorter = one > other ? changed : shown;
  size_t more = one > other ? one - other : other - one;
  return !strcmp(longer + more, shorter) && (!more || longer[more - 1] == '/');
}

static bool is_changed(const struct changes *c, const struct check_place *at) {
  for (const struct change *one = c->list; one < c->list + c->count; one++)
    if (at->line >= one->first && at->line - one->first < one->count &&
        is_file(at->file, one->file))
      return true;
  return false;
}

/* What the lines of a hunk add, from the line `at` of the new file on. */
static void add_line(struct changes *c, const char *file, unsigned at) {
  struct change *last = c->count ? &c->list[c->count - 1] : NULL;
  if (last && last->file == file && last->first + last->count == at) {
    last->count++;
    return;
  }
  c->list = reallocate(c->list, c->count + 1, sizeof *c->list);
  c->list[c->count++] = (struct change){file, at, 1};
}

static bool read_changes(struct changes *c, char *text) {
  const char *file = NULL;
  unsigned at = 0, old = 0, new = 0;
  bool any = false;
  for (char *line; (line = strsep(&text, "\n"));) {
    unsigned counts[2] = {1, 1}, starts[2];
    if (old || new) { /* inside a hunk */
      if (*line == '+')
        add_line(c, file, at);
      at += *line != '-' && *line != '\\';
      new -= new &&*line != '-' && *line != '\\';
      old -= old && *line != '+' && *line != '\\';
    } else if (!strncmp(line, "+++ ", 4)) {
      line[strcspn(line, "\t\r")] = 0;
      file = line + 4;
      any = true;
    } else if (file && !strncmp(line, "@@ -", 4) &&
               (sscanf(line, "@@ -%u,%u +%u,%u", &starts[0], &counts[0], &starts[1], &counts[1]) ==
                    4 ||
                (counts[0] = 1,
                 sscanf(line, "@@ -%u +%u,%u", &starts[0], &starts[1], &counts[1])) == 3 ||
                (counts[1] = 1,
                 sscanf(line, "@@ -%u,%u +%u", &starts[0], &counts[0], &starts[1])) == 3 ||
                (counts[0] = counts[1] = 1, sscanf(line, "@@ -%u +%u", &starts[0], &starts[1])) ==
                    2)) {
      at = starts[1];
      old = counts[0];
      new = counts[1];
    }
  }
  return any;
}

bool select_changed(struct check_result *r, const char *path) {
  struct changes changes = {0};
  size_t length, kept = 0;
  char *text = !strcmp(path, "-") ? read_stream(STDIN_FILENO, MOST_BYTES, &length)
                                  : read_text_file(path, MOST_BYTES, &length);
  if (!text) {
    complain("diff %s cannot be read: %s", path, strerror(errno));
    return false;
  }
  if (length && !read_changes(&changes, text)) {
    complain("%s is no unified diff: `git diff -U0 main` makes one", path);
    return false;
  }
  struct check_finding *list = (struct check_finding *)r->finding;
  for (size_t i = 0; i < r->findings; i++) {
    bool changed = is_changed(&changes, &list[i].at);
    for (size_t k = 0; k < list[i].steps && !changed; k++)
      changed = is_changed(&changes, &list[i].path[k].at);
    drop(r, list, &kept, i, !changed);
  }
  r->findings = kept;
  free(changes.list);
  free(text);
  return true;
}
