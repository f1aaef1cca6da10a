/*
 * Bindings files: NAME.aprof, one line of the grammar per line.
 *
 *     # comment
 *     header uv.h          the lines hold for names declared in such a file
 *     create call:uv_write key=w:a0 fn=a4 | run key=w:a0 once
 *
 * Purpose: loads the shipped files and those asked for, once per unit.
 * Cost: a read of each file; a few hundred lines are parsed in well under 1 ms.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_BINDINGS_FILE_H
#define APROF_PLUGIN_BINDINGS_FILE_H

#include "binding.h"

namespace aprof {

/* Loads every file that the options ask for; errors are reported in place. */
void bindings_load();

/* Makes the files part of the unit's dependencies (-MD, -M). */
void bindings_add_dependencies();

/* All lines, users' files first. They live as long as the compiler. */
const std::vector<std::unique_ptr<Binding>> &bindings();

} // namespace aprof

#endif
