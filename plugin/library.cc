/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which libraries a unit includes; see library.h. */
#include "library.h"

#include <algorithm>

#include "bindings-file.h"
#include "match.h"
#include "options.h"

namespace aprof {

struct Header {
  std::string path;
  Library *library;
  bool beside;
};

static std::vector<std::unique_ptr<Library>> shipped;
static std::unordered_map<std::string, std::vector<Header>> headers; /* by last part */
static std::unordered_map<const char *, Libraries> by_file;
static bool present;

bool libraries_present() {
  return present;
}

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void libraries_find() {
  if (!options.shipped)
    return;
  unsigned rank = 1;
  for (const std::string &path : shipped_paths()) {
    std::string text;
    if (!bindings_text(path, &text))
      continue;
    shipped.emplace_back(new Library{path, rank++, text});
    for (const HeaderPath &header : headers_of_text(text))
      headers[last_part(header.path.c_str())].push_back(
          {header.path, shipped.back().get(), header.beside});
  }
}

static bool path_ends_in(const char *path, const std::string &header) {
  size_t length = strlen(path), tail = header.size();
  return length >= tail && strcmp(path + length - tail, header.c_str()) == 0 &&
         (length == tail || path[length - tail - 1] == '/');
}

static void parse(Library *library) {
  if (library->text.empty())
    return;
  /* Users' lines come first, then those of libraries by rank, whichever is met first. */
  size_t before = bindings().size();
  bindings_add(library->path, library->text, library, (1u << 31) + (library->rank << 16));
  library->text.clear();
  for (size_t i = before; i < bindings().size(); i++)
    match_add(bindings()[i].get());
  present = true;
}

static Libraries find_of_file(const char *file) {
  Libraries hits;
  auto candidates = headers.find(last_part(file));
  if (candidates == headers.end())
    return hits;
  for (const Header &header : candidates->second)
    if (path_ends_in(file, header.path) &&
        std::find(hits.begin(), hits.end(), header.library) == hits.end()) {
      hits.push_back(header.library);
      if (!header.beside)
        parse(header.library);
    }
  return hits;
}

const Libraries &libraries_of_file(const char *file) {
  static const Libraries none;
  static const char *last_file;
  static const Libraries *last = &none;
  if (!file || file == last_file)
    return file ? *last : none;
  auto found = by_file.find(file);
  if (found == by_file.end())
    found = by_file.emplace(file, find_of_file(file)).first;
  last_file = file;
  return *(last = &found->second);
}

/* A precompiled header comes with a table of its own. */
bool libraries_watch() {
  static const line_maps *table;
  static unsigned used;
  bool anew = table && table != line_table;
  if (table == line_table && used == LINEMAPS_ORDINARY_USED(line_table))
    return false;
  if (table != line_table)
    used = 0;
  table = line_table;
  /* Errors in a file of lines add maps of their own. */
  for (; used < LINEMAPS_ORDINARY_USED(line_table); used++)
    libraries_of_file(ORDINARY_MAP_FILE_NAME(LINEMAPS_ORDINARY_MAP_AT(line_table, used)));
  return anew;
}

} // namespace aprof
