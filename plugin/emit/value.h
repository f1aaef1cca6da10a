/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values and conditions of a line as trees of the compiler.
 *
 * Purpose: `a0->field` in front of one call becomes a COMPONENT_REF of its first
 * argument. Only builds expressions, evaluated where the caller puts them.
 * Cost: what the expression costs, behind the gate's flag.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_VALUE_H
#define APROF_PLUGIN_VALUE_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* What a line's values refer to: one call, or one body. */
struct Frame {
  location_t where;        /* of the call or the function, for errors */
  tree function;           /* whose code it becomes part of */
  tree subject;            /* what the line is about: callee or function, or null */
  std::vector<tree> args;  /* what aN stands for */
  std::vector<tree> types; /* as declared; null where it is not */
  tree ret = NULL_TREE;    /* what ret stands for, once there is one */
  tree obj = NULL_TREE;    /* what obj stands for: a pointer to the struct */
};

/* All aN of a line (its `| run` part aside) are there. */
bool arguments_present(const Binding &, const Frame &);

/* For a body that is called as a function of this type (or null): its own types of the arguments do
   not count then, since it may have been cast. False: what the line says cannot be had. */
bool take_types(const Binding &, tree function_type, Frame *);

/* The indices of the arguments that some value behind the call needs: ok=,
   once=, and the key of a create line. */
void late_arguments(const Binding &, const Frame &, std::unordered_set<int> *indices);

/* One of its keys uses such a value. */
bool key_uses(const Binding &, Value::Kind);

/* What the line tells of a request is known behind the call only. */
bool told_behind(const Binding &, const Told &);

/* Some value behind the call needs obj. */
bool late_object(const Binding &);

/* Each returns null after an error at the call that shows the line. */
tree value_tree(const Value *, const Frame &, const Binding &);
tree function_tree(const Value *, const Frame &, const Binding &); /* of fn= */
bool key_trees(const Binding &, const Key &, const Frame &, tree *key0, tree *key1);
tree condition_tree(const Condition &, const Frame &, const Binding &); /* boolean */

/* How a run with pending= or polling= that returned `value` ends (abi.h). */
tree stackless_how(const Binding &, tree value);

/* What is stored, a0, is what the line's place asks for (store:...=V); boolean, constant where
   the compiler knows. */
tree is_stored(const Binding &, const Frame &);

/* `value` is one of the constants; boolean. */
tree one_of(tree value, const std::vector<int64_t> &constants);

/* due= in ns, 64 bits; `*given` is false where the value says "never". */
tree due_tree(const Binding &, const Frame &, tree *given);

/*
 * Null pointers on the way to a value: the program may pass NULL where a line follows a pointer;
 * then the line does not hold this time, and nothing is read.
 *
 *     end call:stop key=a0->owner      if (a0 != 0) end (..., a0->owner, 0);
 *
 * Are all pointers there that the value (or both of a key) follows? Boolean; null where
 * it follows none. For values that have been made trees without an error.
 */
tree guard_of(const Value *, const Frame &, const Binding &);
tree guard_of_key(const Key &, const Frame &, const Binding &);

/* The value, or 0 of its type, and the statement, or nothing; `guard` may be null. */
tree value_if(tree guard, tree value);
tree if_given(tree guard, tree statement);

/* -- for the files that do this: value-arguments.cc, value.cc, condition.cc, due.cc, told.cc */

/* Which argument an aN means. */
int index_of(const Value *, const Frame &);
/* A pointer, or an integer of its size. */
bool is_word(tree type);
/* Null, after an error at the call that shows the line. */
tree refuse(const Frame &, const Binding &, const std::string &message);
/* A value that can be a key or be compared. */
tree scalar_tree(const Value *, const Frame &, const Binding &);
/* What C computes with. */
tree promoted(tree value);
/* `other` is evaluated where `one`, which may be null, holds. */
tree and_then(tree one, tree other);

} // namespace aprof

#endif
