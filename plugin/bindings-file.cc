/* Loading of bindings files; see bindings-file.h. */
#include "bindings-file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

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

static bool has_suffix(const std::string &name) {
  return name.size() > 6 && name.compare(name.size() - 6, 6, ".aprof") == 0;
}

/* bindings=VALUE: with a slash or .aprof a file, else the name of a shipped one. */
static bool is_path(const std::string &value) {
  return value.find('/') != std::string::npos || has_suffix(value);
}

static std::string path_of(const std::string &value) {
  return is_path(value) ? value : options.bindings_dir + "/" + value + ".aprof";
}

static std::vector<std::string> shipped_paths() {
  std::vector<std::string> paths;
  DIR *dir = opendir(options.bindings_dir.c_str());
  if (!dir)
    return paths;
  while (struct dirent *entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name[0] != '.' && has_suffix(name))
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

/* "header PATH"; false if this is another line. */
static bool load_header(File *file, const std::string &text, unsigned number, unsigned column) {
  size_t end = text.find_first_of(" \t");
  if (text.substr(0, end) != "header")
    return false;
  size_t path = text.find_first_not_of(" \t", end);
  bool one = path != std::string::npos && text.find_first_of(" \t", path) == std::string::npos;
  if (one)
    file->headers->push_back(text.substr(path));
  else
    error_at(file_location(file->path, number, column),
             "one path is expected after %<header%>, as in %<header uv.h%>");
  return true;
}

static void load_line(File *file, const std::string &text, unsigned number, unsigned column,
                      bool quiet = false) {
  if (!quiet && load_header(file, text, number, column))
    return;
  std::unique_ptr<Binding> b(new Binding());
  Mistake mistake;
  if (!binding_parse(text, false, b.get(), &mistake)) {
    error_at(file_location(file->path, number, column + (unsigned)mistake.begin), "%s",
             mistake.message.c_str());
    return;
  }
  b->quiet = quiet;
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
  /* A `| run` with a place is a line of its own, too. */
  const Binding *create = file->lines.back().get();
  size_t at = create->then_run_at;
  if (create->then_run && create->then_run->place != Place::None)
    load_line(file, text.substr(at), number, column + (unsigned)at, true);
}

/* What bindings=NAME may name. */
static std::string shipped_names() {
  std::string names;
  for (const std::string &path : shipped_paths()) {
    size_t begin = path.rfind('/') + 1;
    names += (names.empty() ? "" : " ") + path.substr(begin, path.size() - begin - 6);
  }
  return names.empty() ? "none in " + options.bindings_dir : names;
}

/* Why it cannot be read, or 0. */
static int trouble_with(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return errno;
  if (S_ISDIR(status.st_mode))
    return EISDIR;
  return access(path.c_str(), R_OK) == 0 ? 0 : errno;
}

static void load_file(const std::string &path, bool shipped) {
  std::string real = real_path(path);
  if (std::find(loaded.begin(), loaded.end(), real) != loaded.end())
    return;
  if (int why = trouble_with(path)) {
    error("bindings file %qs cannot be read: %s", path.c_str(), xstrerror(why));
    return;
  }
  std::ifstream in(path);
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
    all.back()->order = (unsigned)all.size();
    if (all.back()->then_run)
      all.back()->then_run->order = all.back()->order;
  }
}

/* bindings=VALUE */
static void load_asked(const std::string &value) {
  if (!is_path(value) && trouble_with(path_of(value)) == ENOENT)
    error("no bindings of the name %qs are shipped; there are: %s; a file of yours is named with "
          "%</%> or %<.aprof%>, as %<./%s.aprof%>",
          value.c_str(), shipped_names().c_str(), value.c_str());
  else
    load_file(path_of(value), false);
}

void bindings_load() {
  for (const std::string &value : options.bindings)
    load_asked(value);
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
