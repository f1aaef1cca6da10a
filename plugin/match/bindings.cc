/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bindings files, as a compilation has them; see bindings.h. */
#include "bindings.h"

#include <algorithm>
#include <dlfcn.h>
#include <unistd.h>

#include "lang/precedence.h"

#include "plugin/diagnose.h"
#include "plugin/gcc.h"
#include "plugin/settings.h"

/* libcpp's mkdeps.h is not installed for plugins. */
extern void deps_add_dep(class mkdeps *, const char *);

namespace aprof {

static std::vector<std::unique_ptr<Binding>> all;
static std::vector<std::string> loaded; /* real paths */

const std::vector<std::unique_ptr<Binding>> &bindings() {
  return all;
}

std::vector<std::string> shipped_paths() {
  return paths_in(settings.bindings_dir);
}

/* -- dependencies -------------------------------------------------------------------- */

/* The reader of the C family's front ends; others (lto1) have none. */
static void add_dependency(const std::string &path) {
  void *reader = dlsym(RTLD_DEFAULT, "parse_in");
  mkdeps *deps = reader && *(cpp_reader **)reader ? cpp_get_deps(*(cpp_reader **)reader) : nullptr;
  if (deps)
    deps_add_dep(deps, path.c_str());
}

/* -- loading --------------------------------------------------------------------------- */

static std::string real_path(const std::string &path) {
  char *real = realpath(path.c_str(), nullptr);
  std::string result = real ? real : path;
  free(real);
  return result;
}

static void say(const Error &e) {
  std::string text = in_one(e.text, e.remedy);
  if (e.line == 0)
    error("%s", text.c_str());
  else if (e.note)
    inform(file_location(e.file.c_str(), e.line, e.column), "%s", text.c_str());
  else
    error_at(file_location(e.file.c_str(), e.line, e.column), "%s", text.c_str());
}

bool bindings_text(const std::string &path, std::string *text) {
  int why = file_read(path, text);
  if (why && !flag_preprocess_only)
    error("bindings file %qs cannot be read: %s", path.c_str(), xstrerror(why));
  return why == 0;
}

/* The lines of a file, one more of those that hold. */
static void add_lines(File *file) {
  for (const std::string &list : file->lists)
    add_dependency(list);
  if (!flag_preprocess_only)
    for (const Error &e : file->errors)
      say(e);
  unsigned order = first_order(file->library, all.size());
  for (auto &b : file->lines) {
    b->order = order++;
    if (b->then_run)
      b->then_run->order = b->order;
    all.push_back(std::move(b));
  }
}

void bindings_add(const std::string &path, const std::string &text, const Library *library) {
  std::string real = real_path(path);
  if (std::find(loaded.begin(), loaded.end(), real) != loaded.end())
    return;
  loaded.push_back(real);
  File file = {xstrdup(path.c_str()), library, {}, {}, {}, {}};
  file_parse(&file, text);
  add_lines(&file);
}

/* spans=VALUE: a line as any other, but for where a mistake is. */
static void add_spans(const std::string &value, unsigned number) {
  bool regex = value.size() > 2 && value[0] == '/' && value.back() == '/';
  File file = {"-fplugin-arg-aprof-spans", nullptr, {}, {}, {}, {}};
  file_parse(&file, "span def:" + (regex ? value : "@" + value));
  for (auto &b : file.lines) {
    b->everywhere = true;
    b->line = number;
  }
  auto &errors = file.errors; /* the line is none of the user's */
  errors.erase(std::remove_if(errors.begin(), errors.end(), [](const Error &e) { return e.note; }),
               errors.end());
  for (Error &e : errors)
    if (e.file == file.path) {
      e.line = 0;
      e.text = std::string(file.path) + "=" + value + ": " + e.text;
    }
  add_lines(&file);
}

/* bindings=VALUE */
static void load_asked(const std::string &value) {
  std::string path = path_of(value, settings.bindings_dir), text;
  add_dependency(path);
  if (!is_path(value) && access(path.c_str(), F_OK) != 0 && !flag_preprocess_only)
    error("no bindings of the name %qs are shipped; there are: %s; a file of yours is named with "
          "%</%> or %<.aprof%>, as %<./%s.aprof%>",
          value.c_str(), names_in(settings.bindings_dir).c_str(), value.c_str());
  else if (bindings_text(path, &text))
    bindings_add(path, text, nullptr);
}

void bindings_load() {
  for (const std::string &value : settings.bindings)
    load_asked(value);
  unsigned number = 0;
  for (const std::string &value : settings.spans)
    add_spans(value, ++number); /* behind them all: a line that names a tier wins */
  if (settings.shipped)
    for (const std::string &path : shipped_paths())
      add_dependency(path);
}

} // namespace aprof
