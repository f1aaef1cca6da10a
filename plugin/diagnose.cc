/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locations for messages; see diagnose.h. */
#include "diagnose.h"

namespace aprof {

/* The compiler's table of lines grows in the order of reading. In the middle of
   a file another one is put in as #line would, and taken back. */
location_t file_location(const char *file, unsigned line, unsigned column) {
  bool outside = line_table->depth == 0;
  expanded_location back = {};
  if (!outside)
    back = expand_location(line_table->highest_line);
  linemap_add(line_table, outside ? LC_ENTER : LC_RENAME, 0, xstrdup(file), line);
  linemap_line_start(line_table, line, 256);
  location_t where = linemap_position_for_column(line_table, column);
  if (outside)
    linemap_add(line_table, LC_LEAVE, 0, nullptr, 0);
  else
    linemap_add(line_table, LC_RENAME, back.sysp, back.file,
                back.line > 0 ? (linenum_type)back.line : 1);
  return where;
}

/* A location on another line of the file that `near` is in. */
static location_t location_beside(location_t near, int line, int column) {
  location_t plain = linemap_resolve_location(line_table, near, LRK_MACRO_EXPANSION_POINT, nullptr);
  const line_map *map = linemap_lookup(line_table, plain);
  if (!map || linemap_macro_expansion_map_p(map))
    return near;
  const line_map_ordinary *ordinary = linemap_check_ordinary(map);
  if ((linenum_type)line < ORDINARY_MAP_STARTING_LINE_NUMBER(ordinary))
    return near;
  if (column >= (1 << ordinary->m_column_and_range_bits))
    return near;
  return linemap_position_for_line_and_column(line_table, ordinary, (linenum_type)line,
                                              (unsigned)column);
}

location_t attribute_location(location_t near, const std::string &text, size_t offset) {
  if (near == UNKNOWN_LOCATION)
    return near;
  expanded_location at = expand_location(near);
  if (!at.file)
    return near;
  std::string quoted = "\"" + text + "\"";
  static const int order[] = {0, -1, 1, -2, 2, -3, 3};
  for (int step : order) {
    int line = at.line + step;
    if (line < 1)
      continue;
    std::string source = source_line(at.file, line);
    size_t found =
        source.rfind(quoted, step == 0 && at.column > 0 ? (size_t)at.column : std::string::npos);
    if (found == std::string::npos)
      found = source.find(quoted);
    if (found != std::string::npos)
      return location_beside(near, line, (int)(found + 2 + offset));
  }
  return near;
}

location_t binding_location(const Binding &b, tree subject) {
  if (b.file)
    return file_location(b.file, b.line, b.column);
  location_t near = subject ? DECL_SOURCE_LOCATION(subject) : UNKNOWN_LOCATION;
  location_t where = attribute_location(near, b.text, 0);
  return where != near ? where : (location_t)b.where;
}

std::string binding_origin(const Binding &b) {
  if (!b.file)
    return "attribute";
  const char *slash = strrchr(b.file, '/');
  return std::string(slash ? slash + 1 : b.file) + ":" + std::to_string(b.line);
}

void note_binding(const Binding &b, tree subject) {
  location_t where = binding_location(b, subject);
  inform(where != UNKNOWN_LOCATION ? where : input_location, "asked for by %qs", b.text.c_str());
}

} // namespace aprof
