/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which libraries a unit includes; see library.h. */
#include "library.h"

#include "bindings.h"
#include "plugin/settings.h"

namespace aprof {

static std::vector<std::unique_ptr<Library>> shipped;
static HeaderRules headers;
static std::unordered_map<const char *, Libraries> by_file;
static bool present;

bool libraries_present() {
  return present;
}

static void (*add)(const Binding *); /* who gets the lines */

void libraries_find(void (*add_line)(const Binding *)) {
  add = add_line;
  if (!settings.shipped)
    return;
  unsigned rank = 1;
  for (const std::string &path : shipped_paths()) {
    std::string text;
    if (!bindings_text(path, &text))
      continue;
    shipped.emplace_back(new Library{path, rank++, text});
    header_rules_add(&headers, shipped.back().get());
  }
}

static void parse(Library *library) {
  if (library->text.empty())
    return;
  size_t before = bindings().size();
  bindings_add(library->path, library->text, library);
  library->text.clear();
  for (size_t i = before; i < bindings().size(); i++)
    add(bindings()[i].get());
  present = true;
}

static Libraries find_of_file(const char *file) {
  Libraries hits;
  for (const Header &header : header_rules_of(headers, file)) {
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
