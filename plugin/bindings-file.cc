/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading of bindings files; see bindings-file.h. */
#include "bindings-file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "diagnose.h"
#include "gcc.h"
#include "options.h"

/* libcpp's mkdeps.h is not installed for plugins. */
extern void deps_add_dep(class mkdeps *, const char *);

namespace aprof {

static std::vector<std::unique_ptr<Binding>> all;
static std::vector<std::string> loaded; /* real paths */
static std::vector<std::string> listed; /* files of names */

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

std::vector<std::string> shipped_paths() {
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
  const Library *library; /* null: a user's */
  std::vector<std::unique_ptr<Binding>> lines;
};

/* "header PATH" or "beside PATH": 1, with the path; 0 for another line; -1 where no path, or
   more than one, is there. */
static int read_header(const std::string &text, HeaderPath *header) {
  size_t end = text.find_first_of(" \t");
  header->beside = text.compare(0, end, "beside") == 0;
  if (!header->beside && text.compare(0, end, "header") != 0)
    return 0;
  size_t begin = text.find_first_not_of(" \t", end);
  if (begin == std::string::npos || text.find_first_of(" \t", begin) != std::string::npos)
    return -1;
  header->path = text.substr(begin);
  return 1;
}

std::vector<HeaderPath> headers_of_text(const std::string &text) {
  std::vector<HeaderPath> paths;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    while (text[begin] == ' ' || text[begin] == '\t')
      begin++;
    size_t indent;
    HeaderPath header;
    const char *line = text.c_str() + begin;
    if ((strncmp(line, "header", 6) == 0 || strncmp(line, "beside", 6) == 0) &&
        read_header(strip(text.substr(begin, end - begin), &indent), &header) > 0)
      paths.push_back(header);
  }
  return paths;
}

/* Two creates may name the same calls, or bodies, behind their '|': these are run once. */
static bool is_there(const File &file, const Binding &run) {
  for (const auto &b : file.lines)
    if (b->behind && b->place == run.place && b->name == run.name && b->regex == run.regex &&
        b->quoted == run.quoted && b->fields == run.fields && b->words == run.words)
      return true;
  return false;
}

static void load_listed(File *file, const Binding &line, unsigned number, unsigned column);

/* `as_written`: where the text has a name out of a file in place of that file. */
static void load_line(File *file, const std::string &text, unsigned number, unsigned column,
                      bool behind = false, const std::string *as_written = nullptr) {
  std::unique_ptr<Binding> b(new Binding());
  Mistake mistake;
  if (!binding_parse(text, false, b.get(), &mistake)) {
    error_at(file_location(file->path, number, column + (unsigned)mistake.begin), "%s",
             mistake.message.c_str());
    return;
  }
  if (b->listed) {
    b->behind = behind;
    return load_listed(file, *b, number, column);
  }
  if (behind && is_there(*file, *b))
    return;
  if (as_written)
    b->text = *as_written;
  b->behind = behind;
  b->file = file->path;
  b->line = number;
  b->column = column;
  b->library = file->library;
  if (b->then_run) {
    b->then_run->file = b->file;
    b->then_run->line = b->line;
    b->then_run->column = b->column;
    b->then_run->library = b->library;
  }
  file->lines.push_back(std::move(b));
  /* A `| run` with a place is a line of its own, too. */
  const Binding *create = file->lines.back().get();
  size_t at = create->then_run_at;
  if (create->then_run && create->then_run->place != Place::None)
    load_line(file, text.substr(at), number, column + (unsigned)at, true);
}

static bool read_names(const std::string &path, std::vector<std::string> *names);

/* `async def:@FILE`: the line, with each name that the file has. */
static void load_listed(File *file, const Binding &line, unsigned number, unsigned column) {
  size_t at = line.text.find(line.name), slash = std::string(file->path).rfind('/');
  std::string path = line.name.substr(1);
  if (path[0] != '/' && slash != std::string::npos)
    path = std::string(file->path, slash + 1) + path;
  std::vector<std::string> names;
  if (!read_names(path, &names)) {
    inform(file_location(file->path, number, column + (unsigned)at), "asked for by %qs",
           line.text.c_str());
    return;
  }
  for (const std::string &name : names) {
    std::string text = line.text;
    load_line(file, text.replace(at, line.name.size(), name), number, column, line.behind,
              &line.text);
  }
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

/* 0, or why it cannot be read. */
static int read_text(const std::string &path, std::string *text) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC), why = fd < 0 ? errno : 0;
  char part[8192];
  for (ssize_t got = 1; !why && got != 0;) {
    got = read(fd, part, sizeof part);
    if (got < 0 && errno != EINTR)
      why = errno;
    else if (got > 0)
      text->append(part, (size_t)got);
  }
  if (fd >= 0)
    close(fd);
  if (text->compare(0, 3, "\xef\xbb\xbf") == 0) /* some editors' mark of UTF-8 */
    text->erase(0, 3);
  return why;
}

bool bindings_text(const std::string &path, std::string *text) {
  int why = read_text(path, text);
  if (why)
    error("bindings file %qs cannot be read: %s", path.c_str(), xstrerror(why));
  return why == 0;
}

/* One per line, with comments as in a bindings file. False, and said, where there is none. */
static bool read_names(const std::string &path, std::vector<std::string> *names) {
  std::string text;
  if (int why = read_text(path, &text)) {
    error("file of names %qs cannot be read: %s", path.c_str(), xstrerror(why));
    return false;
  }
  if (std::find(listed.begin(), listed.end(), path) == listed.end())
    listed.push_back(path);
  unsigned number = 0;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    number++;
    size_t indent;
    std::string name = strip(text.substr(begin, end - begin), &indent);
    if (name.empty())
      continue;
    bool open_regex = name[0] == '/' && (name.size() == 1 || name.back() != '/');
    if (open_regex || name.find_first_of(std::string(" \t@\"|\0", 6)) != std::string::npos) {
      error_at(file_location(xstrdup(path.c_str()), number, (unsigned)indent + 1),
               "a file of names has one name, or %</REGEX/%>, per line");
      return false;
    }
    names->push_back(name);
  }
  if (names->empty())
    error("file of names %qs has none", path.c_str());
  return !names->empty();
}

static void load_lines(File *file, const std::string &text) {
  unsigned number = 0;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    number++;
    size_t indent;
    std::string line = strip(text.substr(begin, end - begin), &indent);
    HeaderPath path;
    unsigned column = (unsigned)indent + 1;
    if (line.empty())
      continue;
    int header = read_header(line, &path);
    if (header == 0)
      load_line(file, line, number, column);
    else if (header < 0)
      error_at(file_location(file->path, number, column),
               "one path is expected after %qs, as in %<header uv.h%>",
               path.beside ? "beside" : "header");
  }
}

void bindings_add(const std::string &path, const std::string &text, const Library *library,
                  unsigned first) {
  std::string real = real_path(path);
  if (std::find(loaded.begin(), loaded.end(), real) != loaded.end())
    return;
  loaded.push_back(real);
  File file = {xstrdup(path.c_str()), library, {}};
  load_lines(&file, text);
  for (auto &b : file.lines) {
    b->order = first++;
    if (b->then_run)
      b->then_run->order = b->order;
    all.push_back(std::move(b));
  }
}

static void load_named(const std::string &path) {
  std::string text;
  if (bindings_text(path, &text))
    bindings_add(path, text, nullptr, (unsigned)all.size() + 1);
}

/* bindings=VALUE */
static void load_asked(const std::string &value) {
  if (!is_path(value) && access(path_of(value).c_str(), F_OK) != 0)
    error("no bindings of the name %qs are shipped; there are: %s; a file of yours is named with "
          "%</%> or %<.aprof%>, as %<./%s.aprof%>",
          value.c_str(), shipped_names().c_str(), value.c_str());
  else
    load_named(path_of(value));
}

void bindings_load() {
  for (const std::string &value : options.bindings)
    load_asked(value);
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
  for (const std::string &path : listed)
    deps_add_dep(deps, path.c_str());
  if (options.shipped)
    for (const std::string &path : shipped_paths())
      deps_add_dep(deps, path.c_str());
}

} // namespace aprof
