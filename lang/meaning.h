/* SPDX-License-Identifier: MIT */
/*
 * What a line means, in one plain English sentence.
 *
 *     create call:uv_write key=w:a0 fn=a4 ok=ret==0 | run key=w:a0 once
 *     a call of uv_write that returns 0 makes a future of the function in its 5th argument,
 *     known as w:(1st argument); each call of that function runs it once, which ends it
 *
 * Purpose: who writes a line reads what it says. No compiler is asked: types, and whether
 * the functions exist, nobody knows here.
 * Cost, locking: none.
 */
#ifndef APROF_LANG_MEANING_H
#define APROF_LANG_MEANING_H

#include "file.h"

namespace aprof {

std::string meaning_of(const Binding &);
std::string meaning_of(const HeaderPath &);

} // namespace aprof

#endif
