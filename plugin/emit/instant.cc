/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of no extent; see instant.h. */
#include "instant.h"

#include <aprof/abi.h>

#include "pieces.h"
#include "site-record.h"
#include "told.h"

namespace aprof {

static int how_of(const Binding &b) {
  return b.how == How::Done ? APROF_DONE : b.how == How::Failed ? APROF_FAILED : APROF_CANCELLED;
}

/* The record has the namespace of this key. */
static tree record_of(const Binding &b, const Key &key, const Frame &frame, const std::string &name,
                      unsigned flags) {
  return site_new(b.verb == Verb::Wake ? APROF_SITE_WAKE : APROF_SITE_END, name, frame.where,
                  frame.function, &b, flags, &key);
}

static tree keyed_event(const Binding &b, const Key &key, const Frame &frame,
                        const std::string &name, unsigned flags) {
  tree key0, key1;
  if (!key_trees(b, key, frame, &key0, &key1))
    return NULL_TREE;
  tree record = record_of(b, key, frame, name, flags);
  tree event = b.verb == Verb::Wake
                   ? call_event(Event::wake, {record, key0, key1})
                   : call_event(Event::end, {record, key0, key1, number(how_of(b))});
  return if_given(guard_of_key(key, frame, b), event);
}

tree instant_event(const Binding &b, const Frame &frame, const std::string &name, unsigned flags,
                   tree *variables) {
  if (b.verb == Verb::Label)
    return label_event(b, frame, name, variables);
  if (b.key.first->kind == Value::Cur) {
    tree record = record_of(b, b.key, frame, name, flags);
    return b.verb == Verb::Wake ? call_event(Event::wake_current, {record})
                                : call_event(Event::end_current, {record, number(how_of(b))});
  }
  tree event = keyed_event(b, b.key, frame, name, flags), all = NULL_TREE;
  append(&all, event);
  for (const Key &key : b.more_keys)
    append(&all, event ? event = keyed_event(b, key, frame, name, flags) : NULL_TREE);
  return event ? all : NULL_TREE;
}

} // namespace aprof
