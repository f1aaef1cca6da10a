/* SPDX-License-Identifier: MIT */
/*
 * What can be told of a regex without running it.
 *
 * Purpose: a unit declares thousands of functions, and most regexes of bindings
 * files are lists of names, or begin and end like the names they mean.
 * Cost: once per line. Locking: none. Free of GCC's headers.
 */
#ifndef APROF_LANG_PATTERN_H
#define APROF_LANG_PATTERN_H

#include <string>
#include <vector>

namespace aprof {

/* The names that an extended regex stands for, if they are few and no others match:
   ^a_(b|c)$ is a_b and a_c. False, with `names` undefined, where it is more. */
bool pattern_names(const std::string &regex, std::vector<std::string> *names);

/* What each match begins and ends with; empty where that cannot be told. */
void pattern_ends(const std::string &regex, std::string *begin, std::string *end);

} // namespace aprof

#endif
