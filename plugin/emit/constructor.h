/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constructor of a unit that has events; see constructor.cc. */
#ifndef APROF_PLUGIN_CONSTRUCTOR_H
#define APROF_PLUGIN_CONSTRUCTOR_H

#include "plugin/gcc.h"

namespace aprof {

void emit_constructor();
bool is_own_constructor(tree function);

} // namespace aprof

#endif
