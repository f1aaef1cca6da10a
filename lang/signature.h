/* SPDX-License-Identifier: MIT */
/*
 * Signatures as texts: type:"int(struct pt*,...)" against a type as it is spelled.
 *
 * Cost: once per function and such line. Locking: none.
 */
#ifndef APROF_LANG_SIGNATURE_H
#define APROF_LANG_SIGNATURE_H

#include <string>

namespace aprof {

/* Blanks do not matter, nor do `struct`, `union` and `enum`; `...` at the end is anything. */
bool signature_matches(const std::string &pattern, const std::string &type);

} // namespace aprof

#endif
