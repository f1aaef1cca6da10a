/* Names of files without the directory that they share; see view.h. */
#include "read/util.h"
#include "read/view.h"

#include <stdlib.h>
#include <string.h>

static bool is_system(const char *file) {
  return !strncmp(file, "/usr/", 5);
}

static size_t directory_length(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash ? (size_t)(slash - file) + 1 : 0;
}

/* What the two have in common, up to a slash. */
static size_t shared(const char *file, size_t length, const char *other) {
  size_t same = 0;
  while (same < length && file[same] == other[same])
    same++;
  while (same && file[same - 1] != '/')
    same--;
  return same;
}

/* NULL: there is no such function. */
static char *common_directory(const struct view *v, bool instrumented) {
  const char *common = NULL;
  size_t length = 0;
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    if (!f->file || is_system(f->file) || f->instrumented != instrumented)
      continue;
    length = common ? shared(common, length, f->file) : directory_length(f->file);
    common = common ? common : f->file;
  }
  bool root = length == 1 && *common == '/';
  return common ? print_string("%.*s", root ? 0 : (int)length, common) : NULL;
}

/* Of the program's own files, as the compiler was told them, absolute or not: a header of
   the system would leave nothing, nor would a library's file that only its symbols name. */
char *view_directory(const struct view *v) {
  char *directory = common_directory(v, true);
  if (!directory)
    directory = common_directory(v, false);
  return directory ? directory : print_string("%s", "");
}

static void cut(const char **text, const char *directory, size_t length) {
  if (*text && !strncmp(*text, directory, length))
    *text += length;
}

void view_shorten(struct view *v, const char *directory) {
  size_t length = strlen(directory);
  for (size_t i = 0; i < v->functions; i++) {
    struct view_function *f = &v->function[i];
    cut(&f->file, directory, length);
    cut(&f->slice_from, directory, length);
    cut(&f->slice_to, directory, length);
    for (size_t j = 0; j < f->awaits; j++)
      cut(&f->await[j].file, directory, length);
    for (size_t j = 0; j < f->blockings; j++)
      cut(&f->blocking[j].file, directory, length);
    for (size_t j = 0; j < f->wakers; j++)
      cut(&f->waker[j].file, directory, length);
  }
  for (size_t i = 0; i < v->paths; i++)
    cut(&v->path[i].place, directory, length);
  for (size_t i = 0; i < v->lives; i++) {
    cut(&v->live[i].place, directory, length);
    cut(&v->live[i].created_at, directory, length);
    cut(&v->live[i].held_from, directory, length);
  }
  for (size_t i = 0; i < v->loops; i++) {
    cut(&v->loop[i].from, directory, length);
    cut(&v->loop[i].to, directory, length);
  }
  for (size_t i = 0; i < v->misses; i++)
    cut(&v->miss[i].file, directory, length);
}
