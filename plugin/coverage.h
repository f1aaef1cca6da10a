/*
 * What the plugin saw in this unit, for `aprof coverage`.
 *
 * Purpose: a section .aprof.coverage that is never loaded, with lines of text,
 * fields between tabs:
 *
 *     unit      FILE       VERSION
 *     function  FILE:LINE  NAME              a body that is a future, instrumented
 *     await     FILE:LINE  CALLEE  FUNCTION  a line await was applied to this call
 *     outside   FILE:LINE  CALLEE  FUNCTION  the same in a function that is no future
 *     declared  FILE:LINE  NAME              async, used here, defined elsewhere
 *     binding   FILE:LINE  COUNT   TEXT      a line of a file, how often it was applied
 *
 * Lines of shipped files are there only where they were applied, users' always. A
 * unit in which nothing was applied and nothing is declared has no section.
 * Cost: nothing at run time; 50 bytes of the file per line.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_COVERAGE_H
#define APROF_PLUGIN_COVERAGE_H

#include "binding.h"
#include "gcc.h"

namespace aprof {

void coverage_function(tree function);
void coverage_await(location_t where, const std::string &callee, tree function, bool inside);

/* A line was applied once more. */
void coverage_match(const Binding &);

/* PLUGIN_ALL_IPA_PASSES_START, PLUGIN_FINISH_UNIT. */
void coverage_collect(void *, void *);
void coverage_write(void *, void *);

} // namespace aprof

#endif
