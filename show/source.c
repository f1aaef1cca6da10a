/* SPDX-License-Identifier: MIT */
/* Source files and their marks; see source.h. */
#include "source.h"

#include "read/util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool source_is_named(const char *word) {
  static const char *const endings[] = {".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp",
                                        ".cxx", ".hxx", ".C",   ".H",   ".y",   ".l",
                                        ".ipp", ".inl", ".inc", ".def", NULL};
  const char *dot = strrchr(word, '.');
  for (size_t i = 0; dot && endings[i]; i++)
    if (!strcmp(dot, endings[i]))
      return true;
  return false;
}

/* A device or a pipe would keep who reads it. */
static FILE *open_file(const char *path) {
  char *real = realpath(path, NULL);
  bool hidden = real && source_is_named(path) && !source_is_named(real); /* by a link */
  int fd = real && !hidden ? open_regular(AT_FDCWD, real, O_RDONLY | O_CLOEXEC) : -1;
  free(real);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (fd >= 0 && !file)
    close(fd);
  return file;
}

static FILE *open_below(const char *directory, const char *file, char **path) {
  for (const char *rest = file; rest; rest = strchr(rest, '/')) {
    rest += *rest == '/';
    char *below = print_string("%s/%s", directory, rest);
    FILE *source = open_file(below);
    if (source) {
      *path = below;
      return source;
    }
    free(below);
  }
  return NULL;
}

FILE *source_open(const char *const *names, const char *directory, char **path) {
  const char *last = NULL;
  for (; *names; names++) {
    FILE *source = directory ? NULL : open_file(*names);
    if (source) {
      *path = print_string("%s", *names);
      return source;
    }
    last = *names;
  }
  return directory && last ? open_below(directory, last, path) : NULL;
}

bool source_is_newer(const struct view *v, FILE *source) {
  struct stat status;
  struct tm tm = {0};
  if (!v->process.started_at || !strptime(v->process.started_at, "%Y-%m-%dT%H:%M:%S", &tm) ||
      fstat(fileno(source), &status))
    return false;
  return status.st_mtime > timegm(&tm);
}

char *source_mark_text(const struct mark *m) {
  switch (m->what) {
  case MARK_HOLD:
    return m->to && m->to != m->line ? print_string("held the loop to line %llu: %s",
                                                    (unsigned long long)m->to, m->function->name)
                                     : print_string("held the loop: %s", m->function->name);
  case MARK_AWAIT:
    return !strcmp(m->callee, m->function->name)
               ? print_string("%s waits", m->function->name)
               : print_string("%s waits for %s%s", m->function->name, m->callee,
                              m->background ? ", for new work" : "");
  case MARK_CREATE:
    return print_string("%s is made and waits%s", m->function->name,
                        m->background ? " for new work" : "");
  case MARK_CHECK:
    return print_string("%s [%s]", m->check->text, m->check->rule);
  case MARK_BLOCKING:
    return print_string("%s calls %s, which blocks", m->function->name, m->callee);
  default:
    return print_string("%s", m->function->name);
  }
}

void source_emit_marks(struct emit *e, const struct mark *mark, size_t count) {
  emit_list(e, "marks");
  for (size_t i = 0; i < count; i++) {
    const struct mark *m = &mark[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_number(e, "line", m->line);
    emit_text(e, "what", mark_names[m->what]);
    emit_text(e, "function", m->function ? m->function->name : NULL);
    emit_text(e, "callee", m->callee);
    emit_bool(e, "background", m->background);
    emit_maybe(e, "to_line", m->to, m->to != 0);
    emit_maybe(e, "count", m->count, m->count != UNKNOWN);
    emit_maybe(e, "exec_ns", m->exec, m->exec != UNKNOWN);
    emit_maybe(e, "waiting_ns", m->waiting, m->waiting != UNKNOWN);
    emit_maybe(e, "worst_ns", m->worst, m->worst != UNKNOWN);
    char *text = source_mark_text(m);
    emit_text(e, "text", text);
    free(text);
    emit_text(e, "rule", m->check ? m->check->rule : NULL);
    emit_text(e, "mend", m->check ? m->check->mend : NULL);
    emit_shed(e, "shed", m->function ? m->function->shed : 0);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}
