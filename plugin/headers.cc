/* Which names belong to which header; see headers.h. */
#include "headers.h"

#include <algorithm>

#include "bindings-file.h"

namespace aprof {

typedef std::vector<const std::string *> Headers;

static std::unordered_map<const char *, Headers> by_file; /* by the name's address */
static std::unordered_map<tree, Headers> by_name;         /* by identifier */

bool headers_seen() {
  return !by_name.empty();
}

static bool path_ends_in(const char *path, const std::string &header) {
  size_t length = strlen(path), tail = header.size();
  return length >= tail && strcmp(path + length - tail, header.c_str()) == 0 &&
         (length == tail || path[length - tail - 1] == '/');
}

/* What expand_location says, which asks for the translation of "<built-in>" each
   time. Null for builtins. */
static const char *file_of(tree declaration) {
  location_t where = DECL_SOURCE_LOCATION(declaration);
  const line_map_ordinary *map = nullptr;
  if (IS_ADHOC_LOC(where))
    where = get_location_from_adhoc_loc(line_table, where);
  if (where < RESERVED_LOCATION_COUNT)
    return nullptr;
  linemap_resolve_location(line_table, where, LRK_MACRO_EXPANSION_POINT, &map);
  return map ? ORDINARY_MAP_FILE_NAME(map) : nullptr;
}

/* The headers of the loaded lines that this file is; once per file. */
static const Headers &headers_of_file(const char *file) {
  auto found = by_file.find(file);
  if (found != by_file.end())
    return found->second;
  Headers &hits = by_file[file];
  const std::vector<std::string> *last = nullptr;
  for (const auto &b : bindings()) {
    if (!b->headers || b->headers == last)
      continue;
    last = b->headers;
    for (const std::string &header : *b->headers)
      if (file && path_ends_in(file, header))
        hits.push_back(&header);
  }
  return hits;
}

static const Headers &headers_of_name(tree declaration) {
  static const Headers none;
  auto found = by_name.find(DECL_NAME(declaration));
  return found == by_name.end() ? none : found->second;
}

void remember_header(tree declaration) {
  const Headers &hits = headers_of_file(file_of(declaration));
  if (hits.empty() || !DECL_NAME(declaration))
    return;
  Headers &known = by_name[DECL_NAME(declaration)];
  for (const std::string *header : hits)
    if (std::find(known.begin(), known.end(), header) == known.end())
      known.push_back(header);
}

bool declared_in_some(tree declaration) {
  return !headers_of_name(declaration).empty() || !headers_of_file(file_of(declaration)).empty();
}

bool declared_where(const Binding *b, tree declaration) {
  if (!b->headers)
    return true;
  const std::string *first = b->headers->data(), *end = first + b->headers->size();
  auto mine = [&](const std::string *header) { return header >= first && header < end; };
  const Headers &name = headers_of_name(declaration);
  if (std::any_of(name.begin(), name.end(), mine))
    return true;
  const Headers &file = headers_of_file(file_of(declaration));
  return std::any_of(file.begin(), file.end(), mine);
}

bool headers_present(const std::vector<std::string> &headers) {
  static std::unordered_map<const void *, bool> known;
  auto asked = known.find(&headers);
  if (asked != known.end())
    return asked->second;
  for (unsigned i = 0; i < LINEMAPS_ORDINARY_USED(line_table); i++) {
    const char *file = ORDINARY_MAP_FILE_NAME(LINEMAPS_ORDINARY_MAP_AT(line_table, i));
    for (const std::string &header : headers)
      if (file && path_ends_in(file, header))
        return known[&headers] = true;
  }
  return known[&headers] = false;
}

/* By file: the headers that declare what it defines. */
static const std::unordered_map<std::string, Headers> &library_files() {
  static std::unordered_map<std::string, Headers> files;
  static bool known;
  cgraph_node *node;
  if (known)
    return files;
  known = true;
  FOR_EACH_DEFINED_FUNCTION(node) {
    const char *file = file_of(node->decl);
    if (!file || !TREE_PUBLIC(node->decl))
      continue;
    const Headers &itself = headers_of_file(file);
    for (const std::string *header : headers_of_name(node->decl))
      if (std::find(itself.begin(), itself.end(), header) == itself.end())
        files[file].push_back(header);
  }
  return files;
}

bool is_library_itself(const Binding *b, tree function) {
  const char *file = file_of(function);
  if (!b->headers || !file)
    return false;
  auto found = library_files().find(file);
  if (found == library_files().end())
    return false;
  const std::string *first = b->headers->data(), *end = first + b->headers->size();
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string *header) { return header >= first && header < end; });
}

} // namespace aprof
