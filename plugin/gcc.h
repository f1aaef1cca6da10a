/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * GCC's headers, in the one order in which they compile, and the differences
 * between majors that this plugin meets. Nothing else includes a GCC header.
 */
#ifndef APROF_PLUGIN_GCC_H
#define APROF_PLUGIN_GCC_H

/* Before GCC poisons malloc and friends. */
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "gcc-plugin.h"

#include "plugin-version.h"

#include "tree.h"

#include "basic-block.h"
#include "tree-ssa-alias.h"

#include "gimple-expr.h"

#include "gimple.h"

#include "stringpool.h"

#include "c-family/c-common.h"

#include "attribs.h"
#include "builtins.h"
#include "calls.h"
#include "cgraph.h"
#include "context.h"
#include "debug.h"
#if GCCPLUGIN_VERSION_MAJOR >= 15
#include "diagnostic.h"
#endif
#include "diagnostic-core.h"
#include "file-prefix-map.h"
#include "fold-const.h"
#include "function.h"
#include "gimple-iterator.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "input.h"
#include "intl.h"
#include "langhooks.h"
#include "line-map.h"
#include "options.h"
#include "output.h"
#include "stor-layout.h"
#include "toplev.h"
#include "tree-eh.h"
#include "tree-iterator.h"
#include "tree-pass.h"
#include "varasm.h"

namespace aprof {

inline const char *identifier_text(tree name) {
  return name && TREE_CODE(name) == IDENTIFIER_NODE ? IDENTIFIER_POINTER(name) : nullptr;
}

/* A line of the source as GCC has it cached; empty if it cannot be read. */
inline std::string source_line(const char *file, int line) {
#if GCCPLUGIN_VERSION_MAJOR >= 15
  char_span span = global_dc->get_file_cache().get_source_line(file, line);
#else
  char_span span = location_get_source_line(file, line);
#endif
  return span ? std::string(span.get_buffer(), span.length()) : std::string();
}

} // namespace aprof

#endif
