/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the plugin saw in this unit, for `aprof coverage`.
 *
 * Purpose: a section .aprof.coverage that is never loaded, with lines of text,
 * fields between tabs:
 *
 *     unit      FILE       VERSION  ABI.ROWS     of its gate (aprof/event-table.h)
 *     function  FILE:LINE  NAME   [SYMBOL]   a body that is a future, instrumented
 *     likely    FILE:LINE  NAME   [SYMBOL]   the same, if some unit gives it to a create
 *     symbol    FILE:LINE  SYMBOL            another name of the body there (an alias)
 *     await     FILE:LINE  CALLEE  FUNCTION  a line await was applied to this call
 *     outside   FILE:LINE  CALLEE  FUNCTION  the same in a function that is no future
 *     span      FILE:LINE  NAME              a body, or a call, whose time is told apart
 *     declared  FILE:LINE  NAME   [SYMBOL]   async, used here, defined elsewhere
 *     callback  FILE:LINE  NAME    CREATE  SYMBOL  NAMESPACE  [system]
 *                                            given to a create with `| run`, defined
 *                                            elsewhere; declared in a system's header
 *     binding   FILE:LINE  COUNT   TEXT      a line of a file, how often it was applied
 *
 * SYMBOL is what the linker calls it: left out where it is NAME, empty where no other
 * unit can mean it (static).
 * Lines of shipped files are there only where they were applied, users' always. A
 * unit in which nothing was applied and nothing is declared has no section.
 * Cost: nothing at run time; 50 bytes of the file per line.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_COVERAGE_H
#define APROF_PLUGIN_COVERAGE_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* `likely`: if some unit gives it to a create. */
void coverage_function(tree function, bool likely);
void coverage_await(location_t where, const std::string &callee, tree function, bool inside);

void coverage_span(location_t where, const std::string &name);

/* A line was applied once more. */
void coverage_match(const Binding &);

/* PLUGIN_ALL_IPA_PASSES_START, PLUGIN_FINISH_UNIT. */
void coverage_collect(void *, void *);
void coverage_write(void *, void *);

} // namespace aprof

#endif
