/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which names belong to which header; see headers.h. */
#include "headers.h"

#include <algorithm>

namespace aprof {

static std::unordered_map<tree, Libraries> by_name; /* by identifier */

/* The answer of expand_location, without its translation of "<built-in>" each time. Null for
   builtins. */
static const char *file_at(location_t where) {
  const line_map_ordinary *map = nullptr;
  if (IS_ADHOC_LOC(where))
    where = get_location_from_adhoc_loc(line_table, where);
  if (where < RESERVED_LOCATION_COUNT)
    return nullptr;
  linemap_resolve_location(line_table, where, LRK_MACRO_EXPANSION_POINT, &map);
  return map ? ORDINARY_MAP_FILE_NAME(map) : nullptr;
}

/* Callers ask several times about one declaration, then about the next. */
static const char *file_of(tree declaration) {
  static location_t last;
  static const line_maps *table;
  static const char *file;
  location_t where = DECL_SOURCE_LOCATION(declaration);
  if (where != last || table != line_table)
    file = file_at(where);
  table = line_table;
  last = where;
  return file;
}

bool is_in_header(tree declaration) {
  const char *file = file_of(declaration);
  return file && main_input_filename && strcmp(file, main_input_filename) != 0;
}

static const Libraries &libraries_of_name(tree declaration) {
  static const Libraries none;
  auto found = by_name.find(DECL_NAME(declaration));
  return found == by_name.end() ? none : found->second;
}

static bool holds(const Libraries &libraries, const Library *library) {
  return std::find(libraries.begin(), libraries.end(), library) != libraries.end();
}

void remember_header(tree declaration) {
  const Libraries &hits = libraries_of_file(file_of(declaration));
  if (hits.empty() || !DECL_NAME(declaration))
    return;
  Libraries &known = by_name[DECL_NAME(declaration)];
  for (const Library *library : hits)
    if (!holds(known, library))
      known.push_back(library);
}

const Libraries &libraries_of(tree declaration) {
  if (libraries_present())
    remember_header(declaration);
  return libraries_of_name(declaration);
}

bool declared_where(const Binding *b, tree declaration) {
  return !b->library || holds(libraries_of_name(declaration), b->library) ||
         holds(libraries_of_file(file_of(declaration)), b->library);
}

/* By file: the libraries whose headers declare what it defines. */
static const std::unordered_map<std::string, Libraries> &library_files() {
  static std::unordered_map<std::string, Libraries> files;
  static bool known;
  cgraph_node *node;
  if (known)
    return files;
  known = true;
  FOR_EACH_DEFINED_FUNCTION(node) {
    const char *file = file_of(node->decl);
    if (!file || !TREE_PUBLIC(node->decl))
      continue;
    const Libraries &itself = libraries_of_file(file);
    for (const Library *library : libraries_of_name(node->decl))
      if (!holds(itself, library))
        files[file].push_back(library);
  }
  return files;
}

static bool is_library_file(const Binding *b, const char *file) {
  if (!b->library || !file)
    return false;
  auto found = library_files().find(file);
  return found != library_files().end() && holds(found->second, b->library);
}

bool is_library_itself(const Binding *b, tree function) {
  return b->library && is_library_file(b, file_of(function));
}

bool is_library_at(const Binding *b, location_t where) {
  return b->library && is_library_file(b, file_at(where));
}

bool is_of_platform(tree function) {
  const char *file = LOCATION_FILE(DECL_SOURCE_LOCATION(function));
  return is_of_system(function) &&
         (fndecl_built_in_p(function) || (file && strncmp(file, "/usr/include/", 13) == 0));
}

bool is_of_system(tree function) {
  return fndecl_built_in_p(function) || in_system_header_at(DECL_SOURCE_LOCATION(function));
}

} // namespace aprof
