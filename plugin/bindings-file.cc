/* Loading of bindings files; see bindings-file.h. */
#include "bindings-file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>

#include "diagnose.h"
#include "gcc.h"
#include "options.h"

/* libcpp's mkdeps.h is not installed for plugins. */
extern void deps_add_dep(class mkdeps *, const char *);

namespace aprof {

static std::vector<std::unique_ptr<Binding>> all;
static std::vector<std::string> loaded; /* real paths */

const std::vector<std::unique_ptr<Binding>> &bindings() {
  return all;
}

/* -- which files ------------------------------------------------------------------ */

static std::string real_path(const std::string &path) {
  char *real = realpath(path.c_str(), nullptr);
  std::string result = real ? real : path;
  free(real);
  return result;
}

/* bindings=VALUE: with a slash or .aprof a file, else the name of a shipped one. */
static std::string path_of(const std::string &value) {
  bool file = value.find('/') != std::string::npos ||
              (value.size() > 6 && value.compare(value.size() - 6, 6, ".aprof") == 0);
  return file ? value : options.bindings_dir + "/" + value + ".aprof";
}

static std::vector<std::string> shipped_paths() {
  std::vector<std::string> paths;
  DIR *dir = opendir(options.bindings_dir.c_str());
  if (!dir)
    return paths;
  while (struct dirent *entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name.size() > 6 && name[0] != '.' && name.compare(name.size() - 6, 6, ".aprof") == 0)
      paths.push_back(options.bindings_dir + "/" + name);
  }
  closedir(dir);
  std::sort(paths.begin(), paths.end());
  return paths;
}

/* -- one file ---------------------------------------------------------------------- */

/* The line without its comment: '#' at its start or after a blank. */
static std::string strip(const std::string &line, size_t *indent) {
  size_t begin = 0, end = line.size();
  while (begin < end && strchr(" \t\r", line[begin]))
    begin++;
  char quote = 0;
  for (size_t i = begin; i < end; i++) {
    char c = line[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || (c == '/' && i > 0 && line[i - 1] == ':')) {
      quote = c;
    } else if (c == '#' && (i == begin || strchr(" \t", line[i - 1]))) {
      end = i;
    }
  }
  while (end > begin && strchr(" \t\r", line[end - 1]))
    end--;
  *indent = begin;
  return line.substr(begin, end - begin);
}

struct File {
  const char *path;
  bool shipped;
  std::vector<std::string> *headers;
  std::vector<std::unique_ptr<Binding>> lines;
};

static void load_line(File *file, const std::string &text, unsigned number, unsigned column) {
  if (text.compare(0, 7, "header ") == 0) {
    size_t name = text.find_first_not_of(" \t", 7);
    file->headers->push_back(text.substr(name));
    return;
  }
  std::unique_ptr<Binding> b(new Binding());
  Mistake mistake;
  if (!binding_parse(text, false, b.get(), &mistake)) {
    error_at(file_location(file->path, number, column + (unsigned)mistake.begin), "%s",
             mistake.message.c_str());
    return;
  }
  b->file = file->path;
  b->line = number;
  b->column = column;
  b->shipped = file->shipped;
  if (b->then_run) {
    b->then_run->file = b->file;
    b->then_run->line = b->line;
    b->then_run->column = b->column;
    b->then_run->shipped = b->shipped;
  }
  file->lines.push_back(std::move(b));
}

static void load_file(const std::string &path, bool shipped) {
  std::string real = real_path(path);
  if (std::find(loaded.begin(), loaded.end(), real) != loaded.end())
    return;
  std::ifstream in(path);
  if (!in) {
    error("bindings file %qs cannot be read: %s", path.c_str(), xstrerror(errno));
    return;
  }
  loaded.push_back(real);
  File file = {xstrdup(path.c_str()), shipped, new std::vector<std::string>(), {}};
  std::string line;
  for (unsigned number = 1; std::getline(in, line); number++) {
    size_t indent;
    std::string text = strip(line, &indent);
    if (!text.empty())
      load_line(&file, text, number, (unsigned)indent + 1);
  }
  if (shipped && file.headers->empty())
    return; /* for those who ask for it by name */
  for (auto &b : file.lines) {
    /* Who names a file wants it to hold for his names, wherever declared. */
    b->headers = shipped ? file.headers : nullptr;
    all.push_back(std::move(b));
  }
}

void bindings_load() {
  for (const std::string &value : options.bindings)
    load_file(path_of(value), false);
  if (options.shipped)
    for (const std::string &path : shipped_paths())
      load_file(path, true);
}

/* -- dependencies -------------------------------------------------------------------- */

/* The reader of the C family's front ends; others (lto1) have none. */
void bindings_add_dependencies() {
  void *reader = dlsym(RTLD_DEFAULT, "parse_in");
  if (!reader || !*(cpp_reader **)reader)
    return;
  mkdeps *deps = cpp_get_deps(*(cpp_reader **)reader);
  if (!deps)
    return;
  for (const std::string &value : options.bindings)
    deps_add_dep(deps, path_of(value).c_str());
  if (options.shipped)
    for (const std::string &path : shipped_paths())
      deps_add_dep(deps, path.c_str());
}

} // namespace aprof
