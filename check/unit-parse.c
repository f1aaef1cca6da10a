/* SPDX-License-Identifier: MIT */
/* One unit: the preprocessor, the cache, the parser; see unit.h. */
#include "lower.h"
#include "parse.h"

#include "read/util.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef APROF_VERSION
#define APROF_VERSION "(unversioned build)"
#endif

/* -- hashes ----------------------------------------------------------------------------- */

/* Two of 64 bits, from different beginnings: no two units of a cache are taken for one. */
struct hash {
  uint64_t one, other;
};

static void hash_more(struct hash *h, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    h->one = (h->one ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    h->other = (h->other + (unsigned char)bytes[i] + 1) * 0x9e3779b97f4a7c15u;
    h->other ^= h->other >> 29;
  }
}

static void hash_text(struct hash *h, const char *text) {
  hash_more(h, text, strlen(text) + 1);
}

/* What a summary depends on beside the source. */
static struct hash hash_of_command(const struct unit *unit, const char *base) {
  struct hash h = {0xcbf29ce484222325u, 0x2545f4914f6cdd1du};
  CXString version = clang_getClangVersion();
  hash_text(&h, APROF_VERSION);
  hash_more(&h, (const char[]){IR_FORMAT, unit->cxx}, 2);
  hash_text(&h, clang_getCString(version));
  hash_text(&h, base);
  hash_text(&h, unit->directory);
  hash_text(&h, unit->source);
  for (size_t i = 0; i < unit->flags; i++)
    hash_text(&h, unit->flag[i]);
  clang_disposeString(version);
  return h;
}

static char *path_of(const char *cache, struct hash h, const char *kind) {
  return print_string("%s/%016" PRIx64 "%016" PRIx64 ".%s", cache, h.one, h.other, kind);
}

/* -- the files that it read ------------------------------------------------------------------- */

/* # LINE "FILE" FLAGS */
static void note_files(struct lower *l, struct units *shown, const char *directory) {
  const char *last = "";
  size_t length = 0;
  for (const char *at = l->text; at; at = strchr(at, '\n'), at += at != NULL) {
    if (at[0] != '#' || at[1] != ' ')
      continue;
    const char *open = strchr(at, '"'), *end = strchr(at, '\n');
    const char *close = open ? strchr(open + 1, '"') : NULL;
    if (!close || (end && close > end) || open[1] == '<')
      continue;
    size_t size = (size_t)(close - open - 1);
    if (size == length && !strncmp(last, open + 1, size))
      continue;
    last = open + 1;
    length = size;
    char *name = print_string("%.*s", (int)size, last);
    const char *path = units_show(shown, directory, name);
    free(name);
    if (path[strlen(path) - 1] != '/')
      lower_note(l, &l->unit->files, path);
  }
}

/* A file's state, for the next run. */
static void put_stamp(FILE *out, const char *base, const char *shown) {
  struct stat state;
  char *path = *shown == '/' ? print_string("%s", shown) : print_string("%s/%s", base, shown);
  if (stat(path, &state) == 0)
    fprintf(out, "%jd %ld %jd %s\n", (intmax_t)state.st_mtim.tv_sec, state.st_mtim.tv_nsec,
            (intmax_t)state.st_size, path);
  free(path);
}

/* The stamps of the unit, a text "TARGET\nSTAMP\n...": the target if they still hold. */
static char *still_true(const char *path) {
  size_t length;
  char *all = read_text_file(path, (size_t)64 << 20, &length), *rest = all, *line;
  char *target = all ? strsep(&rest, "\n") : NULL;
  while (target && rest && (line = strsep(&rest, "\n")) && *line) {
    intmax_t seconds, size;
    long nanoseconds;
    int name = 0;
    struct stat state;
    if (sscanf(line, "%jd %ld %jd %n", &seconds, &nanoseconds, &size, &name) < 3 || !name ||
        stat(line + name, &state) || state.st_mtim.tv_sec != seconds ||
        state.st_mtim.tv_nsec != nanoseconds || state.st_size != size)
      target = NULL;
  }
  target = target ? print_string("%s", target) : NULL;
  free(all);
  return target;
}

/* Under a name of its own, then in its place: another run never sees half of it. */
static void put_in_place(const char *path, const char *from, void (*write_it)(FILE *, const void *),
                         const void *what) {
  char *temporary = print_string("%s.%ld", path, (long)getpid());
  if (from) {
    unlink(temporary);
    if (link(from, temporary) == 0 && rename(temporary, path))
      unlink(temporary);
  } else {
    FILE *out = fopen(temporary, "we");
    if (out) {
      write_it(out, what);
      if (fclose(out) || rename(temporary, path))
        unlink(temporary);
    }
  }
  free(temporary);
}

struct stamps {
  const char *target, *base;
  const struct ir_texts *files;
};

static void write_stamps(FILE *out, const void *what) {
  const struct stamps *s = what;
  fprintf(out, "%s\n", s->target);
  for (size_t i = 0; i < s->files->count; i++)
    put_stamp(out, s->base, s->files->text[i]);
}

/* -- the parser ------------------------------------------------------------------------------- */

static void note_problems(struct lower *l, CXTranslationUnit tu) {
  for (unsigned i = 0; i < clang_getNumDiagnostics(tu); i++) {
    CXDiagnostic d = clang_getDiagnostic(tu, i);
    if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
      CXString file;
      unsigned line = 0;
      clang_getPresumedLocation(clang_getDiagnosticLocation(d), &file, &line, NULL);
      const char *text = lower_string(l, clang_getDiagnosticSpelling(d));
      l->error = ir_grow(l->error, l->errors, sizeof *l->error);
      l->error[l->errors++] =
          (struct check_place){units_show(l->shown, l->directory, clang_getCString(file)), line};
      if (l->unit->errors++ == 0)
        lower_note(l, &l->unit->problems,
                   lower_say(l, "%s:%u: %s", lower_string(l, file), line, text));
      else
        clang_disposeString(file);
    }
    clang_disposeDiagnostic(d);
  }
}

static bool parse(struct lower *l, const struct unit *unit) {
  CXTranslationUnit tree = parse_tree(unit, l->text, l->length);
  if (!tree)
    return false;
  note_problems(l, tree);
  lower_unit(l, tree);
  return true;
}

static int give_up(const char *to, const char *why) {
  FILE *out = fopen(to, "we");
  if (out) {
    fputs(why, out);
    fclose(out);
  }
  return UNIT_FAILED;
}

static bool copy_from(const char *cached, const char *to) {
  if (link(cached, to))
    return false;
  utimensat(AT_FDCWD, cached, NULL, 0); /* it is of use: the sweep leaves it */
  return true;
}

static void write_summary(FILE *out, const void *unit) {
  ir_write(unit, out);
}

int unit_summarize(const struct unit *unit, const char *base, const char *to, const char *cache) {
  struct hash hash = hash_of_command(unit, base);
  char *stamps = cache ? path_of(cache, hash, "stamps") : NULL, *target;
  if (cache && (target = still_true(stamps)) && copy_from(target, to))
    return UNIT_KEPT;
  struct units shown = {.base = base};
  struct arena arena = {0};
  struct ir_unit summary = {0};
  struct lower l = {.arena = &arena,
                    .unit = &summary,
                    .cxx = unit->cxx,
                    .shown = &shown,
                    .directory = unit->directory};
  bool failed = false;
  if (chdir(unit->directory))
    return give_up(to, "its directory is not there");
  l.text = parse_text(unit, &l.length, &failed);
  if (!l.text)
    return give_up(to, "`" APROF_CLANG "' cannot be run: install clang, or put it into PATH");
  hash_more(&hash, l.text, l.length);
  note_files(&l, &shown, unit->directory);
  char *entry = cache ? path_of(cache, hash, "ir") : NULL;
  bool kept = entry && copy_from(entry, to);
  if (!kept) {
    if (!parse(&l, unit))
      return give_up(to, "libclang cannot parse it");
    if (failed && !summary.errors) {
      summary.errors = 1;
      lower_note(&l, &summary.problems,
                 "the preprocessor has errors: a header is missing, or a flag");
    }
    put_in_place(to, NULL, write_summary, &summary);
    if (entry)
      put_in_place(entry, to, NULL, NULL);
  }
  if (cache && !failed)
    put_in_place(stamps, NULL, write_stamps, &(struct stamps){entry, base, &summary.files});
  return kept ? UNIT_KEPT : UNIT_PARSED;
}
