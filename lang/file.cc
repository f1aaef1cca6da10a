/* SPDX-License-Identifier: MIT */
/* Bindings files; see file.h. */
#include "file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace aprof {

/* -- which files ------------------------------------------------------------------ */

static const char suffix[] = ".aprof";
enum { SUFFIX = sizeof suffix - 1 };

static bool has_suffix(const std::string &name) {
  return name.size() > SUFFIX && name.compare(name.size() - SUFFIX, SUFFIX, suffix) == 0;
}

bool is_path(const std::string &value) {
  return value.find('/') != std::string::npos || has_suffix(value);
}

std::string path_of(const std::string &value, const std::string &shipped) {
  return is_path(value) ? value : shipped + "/" + value + suffix;
}

std::vector<std::string> paths_in(const std::string &shipped) {
  std::vector<std::string> paths;
  DIR *dir = opendir(shipped.c_str());
  if (!dir)
    return paths;
  while (struct dirent *entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name[0] != '.' && has_suffix(name))
      paths.push_back(shipped + "/" + name);
  }
  closedir(dir);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string names_in(const std::string &shipped) {
  std::string names;
  for (const std::string &path : paths_in(shipped)) {
    size_t begin = path.rfind('/') + 1;
    names += (names.empty() ? "" : " ") + path.substr(begin, path.size() - begin - SUFFIX);
  }
  return names.empty() ? "none in " + shipped : names;
}

int file_read(const std::string &path, std::string *text) {
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

/* -- one line after the other ---------------------------------------------------------- */

/* Where a line stands: its number and text, and the column, from 0, where what is parsed begins. */
struct Row {
  unsigned number;
  size_t column;
  const std::string &source;
};

static Error *add_error(File *file, const Row &row, const std::string &text,
                        const std::string &remedy = "") {
  file->errors.emplace_back();
  Error *error = &file->errors.back();
  error->file = file->path;
  error->line = row.number;
  error->column = (unsigned)row.column + 1;
  error->source = row.source;
  error->text = text;
  error->remedy = remedy;
  return error;
}

static void add_file_error(File *file, const std::string &path, const std::string &text) {
  file->errors.emplace_back();
  file->errors.back().file = path;
  file->errors.back().text = text;
}

/* Each line of the text that says something, without its comment. */
static void for_each_line(const std::string &text,
                          const std::function<bool(const std::string &, const Row &)> &say) {
  unsigned number = 0;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    number++;
    size_t indent;
    std::string source = text.substr(begin, end - begin), line = strip_comment(source, &indent);
    if (!line.empty() && !say(line, {number, indent, source}))
      return;
  }
}

/* -- files of names -------------------------------------------------------------------- */

/* Reads one name per line, with comments as in a bindings file. False, with an error, where there
   is none. */
static bool read_names(File *file, const std::string &path, std::vector<std::string> *names) {
  std::string text;
  bool well = true;
  if (int why = file_read(path, &text)) {
    add_file_error(file, path, "file of names '" + path + "' cannot be read: " + strerror(why));
    return false;
  }
  if (std::find(file->lists.begin(), file->lists.end(), path) == file->lists.end())
    file->lists.push_back(path);
  for_each_line(text, [&](const std::string &name, const Row &row) {
    names->push_back(name);
    bool open_regex = name[0] == '/' && (name.size() == 1 || name.back() != '/');
    well = !open_regex && name.find_first_of(std::string(" \t@\"|\0", 6)) == std::string::npos;
    if (!well)
      add_error(file, row, "a file of names has one name, or '/REGEX/', per line")->file = path;
    return well;
  });
  if (names->empty())
    add_file_error(file, path, "file of names '" + path + "' has none");
  return well && !names->empty();
}

/* -- lines of the grammar ------------------------------------------------------------------ */

/* Two creates may name the same calls or bodies behind their '|': these run once. */
static bool is_there(const File &file, const Binding &run) {
  for (const auto &b : file.lines)
    if (b->behind && b->place == run.place && b->name == run.name && b->regex == run.regex &&
        b->quoted == run.quoted && b->fields == run.fields && b->words == run.words)
      return true;
  return false;
}

static void load_listed(File *file, const Binding &line, const Row &row);

/* `list`: the line in whose place this one stands, with a name out of its file of names. */
static void load_line(File *file, const std::string &text, const Row &row, bool behind = false,
                      const Binding *list = nullptr) {
  std::unique_ptr<Binding> b(new Binding());
  Mistake mistake;
  if (!binding_parse(text, false, b.get(), &mistake)) {
    Row at = {row.number, row.column + mistake.begin, row.source};
    Error *error = add_error(file, at, mistake.text, mistake.remedy);
    error->width = (unsigned)std::max<size_t>(mistake.end - mistake.begin, 1);
    return;
  }
  b->behind = behind;
  if (b->listed)
    return load_listed(file, *b, row);
  if (behind && is_there(*file, *b))
    return;
  if (list) {
    b->text = list->text;
    b->list = list->name;
  }
  for (Binding *part : {b.get(), b->then_run.get()})
    if (part) {
      part->file = file->path;
      part->line = row.number;
      part->column = (unsigned)row.column + 1;
      part->library = file->library;
    }
  file->lines.push_back(std::move(b));
  /* A `| run` with a place is a line of its own, too. */
  const Binding *create = file->lines.back().get();
  size_t at = create->then_run_at;
  if (create->then_run && create->then_run->place != Place::None)
    load_line(file, text.substr(at), {row.number, row.column + at, row.source}, true);
}

/* `async def:@FILE`: the line, with each name that the file has. */
static void load_listed(File *file, const Binding &line, const Row &row) {
  size_t at = line.text.find(line.name), slash = std::string(file->path).rfind('/');
  std::string path = line.name.substr(1);
  if (path[0] != '/' && slash != std::string::npos)
    path = std::string(file->path, slash + 1) + path;
  std::vector<std::string> names;
  if (!read_names(file, path, &names)) {
    Row name = {row.number, row.column + at, row.source};
    add_error(file, name, "asked for by '" + line.text + "'")->note = true;
    return;
  }
  for (const std::string &name : names) {
    std::string text = line.text;
    load_line(file, text.replace(at, line.name.size(), name), row, line.behind, &line);
  }
}

void file_parse(File *file, const std::string &text) {
  for_each_line(text, [&](const std::string &line, const Row &row) {
    HeaderPath header;
    int status = read_header(line, &header);
    header.line = row.number;
    if (status > 0)
      file->headers.push_back(header);
    else if (status == 0)
      load_line(file, line, row);
    else
      add_error(file, row,
                std::string("one path is expected after '") +
                    (header.beside ? "beside" : "header") + "'",
                "as in 'header uv.h'");
    return true;
  });
}

} // namespace aprof
