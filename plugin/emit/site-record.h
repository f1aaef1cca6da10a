/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Site records: one static struct aprof_site (abi.h) per place.
 *
 * Purpose: each record lies in a section of its own,
 *     .section aprof_sites,"aw",@progbits,unique,N
 * which only the code of its function refers to. So the compiler drops it with
 * the function, and so does the linker with --gc-sections; all that are left
 * stand back to back in one output section, where tools find them.
 * Cost: 64 bytes of data per place, nothing at run time.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_SITE_H
#define APROF_PLUGIN_SITE_H

#include "lang/binding.h"
#include "plugin/gcc.h"

#include <aprof/abi.h>

namespace aprof {

/* The address of a new record for a place in `function`. `line` gives flags and
   namespace and may be null; `extra` are flags that the line does not show; `key` is
   the one of its keys that the event passes, null for the first; `tier` is that of a line that
   names none. */
tree site_new(aprof_site_kind kind, const std::string &name, location_t where, tree function,
              const Binding *line, unsigned extra, const Key *key = nullptr,
              const std::string &tier = "");

/* The address of the one FUNCTION record of a function in this unit. */
tree site_of_function(tree function);

/* The address of a RUN record for a run line about the body of `function`. */
tree site_of_run(tree function, const Binding *line, bool quiet, bool own);

} // namespace aprof

#endif
