/* Names of files without the directory that they share; see reading.h. */
#include "cli.h"
#include "reading.h"

#include <stdlib.h>
#include <string.h>

static bool is_system(const char *file) {
  return !strncmp(file, "/usr/", 5);
}

/* Of the program's own files, as the compiler was told them, absolute or not: a header of
   the system would leave nothing. */
char *reading_directory(const struct reading *r) {
  const char *common = NULL;
  size_t length = 0;
  for (size_t i = 0; i < r->functions; i++) {
    const char *file = r->function[i].file;
    if (!file || is_system(file))
      continue;
    if (!common) {
      const char *slash = strrchr(file, '/');
      common = file;
      length = slash ? (size_t)(slash - file) + 1 : 0;
    }
    size_t same = 0;
    while (same < length && common[same] == file[same])
      same++;
    while (same && common[same - 1] != '/')
      same--;
    length = same;
  }
  bool root = length == 1 && *common == '/';
  return print_string("%.*s", root ? 0 : (int)length, common ? common : "");
}

static void cut(const char **text, const char *directory, size_t length) {
  if (*text && !strncmp(*text, directory, length))
    *text += length;
}

void reading_shorten(struct reading *r, const char *directory) {
  size_t length = strlen(directory);
  for (size_t i = 0; i < r->functions; i++) {
    struct r_function *f = &r->function[i];
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
  for (size_t i = 0; i < r->paths; i++)
    cut(&r->path[i].place, directory, length);
  for (size_t i = 0; i < r->lives; i++) {
    cut(&r->live[i].place, directory, length);
    cut(&r->live[i].created_at, directory, length);
    cut(&r->live[i].held_from, directory, length);
  }
  for (size_t i = 0; i < r->loops; i++) {
    cut(&r->loop[i].from, directory, length);
    cut(&r->loop[i].to, directory, length);
  }
  for (size_t i = 0; i < r->misses; i++)
    cut(&r->miss[i].file, directory, length);
}
