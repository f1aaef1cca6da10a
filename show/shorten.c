/* SPDX-License-Identifier: MIT */
/* Names of files without the directory that they share; see report.h. */
#include "read/fields.h"
#include "read/settle.h"
#include "read/util.h"
#include "report.h"

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
char *report_directory(const struct view *v) {
  char *directory = common_directory(v, true);
  if (!directory)
    directory = common_directory(v, false);
  return directory ? directory : print_string("%s", "");
}

static void cut(const char **text, const char *directory, size_t length) {
  if (*text && !strncmp(*text, directory, length))
    *text += length;
}

/* Which fields of a layout names of files are in, or beneath: few, where elements are many. */
enum { FIELDS = 64 };
struct with_files {
  const struct layout *of;
  const struct field *field[FIELDS];
  size_t fields;
};

static struct with_files files_in(const struct layout *layout) {
  struct with_files with = {.of = layout};
  for (size_t i = 0; layout && i < layout->fields && with.fields < FIELDS; i++)
    if (layout->field[i].is_file || layout->field[i].type == FIELD_LIST)
      with.field[with.fields++] = &layout->field[i];
  return with;
}

static void shorten_list(const struct field *list, void *object, const char *directory,
                         size_t length);

static void shorten(const struct with_files *with, void *object, const char *directory,
                    size_t length) {
  for (size_t i = 0; i < with->fields; i++) {
    const struct field *field = with->field[i];
    const char **text = field_of(object, field);
    for (int j = 0; field->is_file && j < (field->type == FIELD_PAIR ? 2 : 1); j++)
      cut(&text[j], directory, length);
    if (field->type == FIELD_LIST)
      shorten_list(field, object, directory, length);
  }
}

/* Elements are of the list's layout, or of its other one. */
static void shorten_list(const struct field *list, void *object, const char *directory,
                         size_t length) {
  size_t count = field_count(object, list);
  if (!count)
    return;
  const struct with_files usual = files_in(list->of), other = files_in(list->of->other);
  for (size_t i = 0; i < count; i++) {
    void *element = field_element(object, list, i);
    shorten(layout_of(list->of, element) == usual.of ? &usual : &other, element, directory, length);
  }
}

void report_shorten(struct view *v, const char *directory) {
  const struct with_files totals = files_in(&layout_totals);
  shorten(&totals, v, directory, strlen(directory));
  settle_holds(v);
}
