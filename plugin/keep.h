/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trees that the plugin holds on to over the compiler's garbage collections.
 *
 * Purpose: everything stored outside GCC's own structures goes through keep ().
 * A precompiled header replaces the whole heap when it is read, before the
 * first declaration: nothing may be kept until then.
 * Cost: one list node per kept tree. Locking: none.
 */
#ifndef APROF_PLUGIN_KEEP_H
#define APROF_PLUGIN_KEEP_H

#include "gcc.h"

namespace aprof {

/* Makes `t` live until the compiler ends; returns it. */
tree keep(tree t);

/* Registers the list with the collector. */
void keep_init(const char *plugin_name);

} // namespace aprof

#endif
