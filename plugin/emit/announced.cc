/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Announcements that have to be taken back; see announced.h.
 *
 * The function is still structured, so the question is asked backwards: from a statement's end to
 * its begin, of what follows: is each way on safe? A goto goes on at its label, by way of the
 * `finally` parts between; labels are unsafe until shown to be safe, so that no way is that goes in
 * circles for ever, and what is not known here is unsafe.
 */
#include "announced.h"

#include "gate.h"
#include "pieces.h"

namespace aprof {

gimple *mark(gimple_seq *sequence) {
  gimple *statement = gimple_build_nop();
  gimple_seq_add_stmt(sequence, statement);
  return statement;
}

namespace {

class Search {
public:
  Search(const Announced &announced, bool leaves)
      : announced(announced), leaves(leaves), thrown(leaves) {}

  /* Statements of `over` that nothing needs. */
  std::unordered_set<gimple *> needless(gimple_seq body) {
    changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
      changed = false;
      safe.clear();
      unsafe.clear();
      before(body, leaves, nullptr);
    }
    for (gimple *statement : unsafe)
      safe.erase(statement);
    return safe;
  }

private:
  enum { ROUNDS = 8 }; /* loops inside loops inside... */
  const Announced &announced;
  bool leaves; /* the function's end is safe */
  bool changed = false;
  bool thrown;                               /* where an exception goes on from here is safe */
  std::unordered_set<gimple *> safe, unsafe; /* of `over` */
  std::unordered_map<tree, bool> labels;     /* safe? */
  std::unordered_map<tree, gtry *> parts;    /* of labels: the `try` around */
  std::unordered_map<gtry *, gtry *> around; /* a `try` with finally: the next such one */
  std::vector<tree> *own = nullptr;          /* labels of the `finally` part we are in */

  bool before(gimple_seq, bool after, gtry *inside);
  bool statement(gimple_stmt_iterator, bool after, gtry *inside);
  bool cleanup(gtry *, bool after, gtry *inside);
  bool leaving(gtry *inside, gtry *until, bool after);
  bool stays(gimple *) const;
  bool jump(tree label, gtry *inside);
  bool before_try(gtry *, bool after, gtry *inside);
  bool before_switch(gswitch *, gtry *inside);
};

/* The event that a call is, if it is one: the pointer was read off the gate just before. */
bool event_called(gimple_stmt_iterator gsi, Event *event) {
  tree pointer = gimple_call_fn(gsi_stmt(gsi));
  while (pointer && DECL_P(pointer) && !gsi_end_p(gsi)) {
    gsi_prev(&gsi);
    gimple *before = gsi_end_p(gsi) ? nullptr : gsi_stmt(gsi);
    if (!before || !is_gimple_assign(before))
      return false;
    if (gimple_assign_lhs(before) == pointer)
      pointer = gimple_assign_rhs1(before);
  }
  return pointer && is_gate_event(pointer, event);
}

/* Those that ask what is announced. */
bool asks(Event event) {
  return event == Event::enter || event == Event::run_begin || event == Event::idle_begin;
}

/* Begins no body: what the compiler made, or knows not to call back. An allocator may be the
   program's own, and what exit has to do is. */
bool is_harmless(gcall *call) {
  if (gimple_call_internal_p(call))
    return true;
  tree callee = gimple_call_fndecl(call);
  if (!callee || !fndecl_built_in_p(callee, BUILT_IN_NORMAL))
    return false;
  switch (DECL_FUNCTION_CODE(callee)) {
  case BUILT_IN_PROFILE_FUNC_ENTER:
  case BUILT_IN_PROFILE_FUNC_EXIT:
    return true;
  case BUILT_IN_EXIT:
  case BUILT_IN_FREE:
  case BUILT_IN_REALLOC:
    return false;
  default:
    return (gimple_call_flags(call) & (ECF_LEAF | ECF_MALLOC)) == ECF_LEAF;
  }
}

/* A `finally` part, which goes on in several ways: its labels are known for one at a time. */
bool Search::cleanup(gtry *statement, bool after, gtry *inside) {
  std::vector<tree> here, *outer = own;
  bool thrown_outside = thrown;
  own = &here;
  thrown = false;
  after = before(gimple_try_cleanup(statement), after, inside);
  thrown = thrown_outside;
  own = outer;
  for (tree label : here)
    labels.erase(label);
  return after;
}

/* The way out of all `finally` parts around `inside`, up to `until`. */
bool Search::leaving(gtry *inside, gtry *until, bool after) {
  if (!inside || inside == until)
    return after;
  gtry *outer = around[inside];
  return cleanup(inside, leaving(outer, until, after), outer);
}

/* Throws nothing (as with -fnon-call-exceptions), or what goes on in a safe way. */
bool Search::stays(gimple *statement) const {
  return thrown || !stmt_could_throw_p(cfun, statement);
}

bool Search::jump(tree label, gtry *inside) {
  if (!label || TREE_CODE(label) != LABEL_DECL)
    return false;
  auto known = labels.find(label);
  return known != labels.end() && known->second && leaving(inside, parts[label], true);
}

bool Search::before_switch(gswitch *statement, gtry *inside) {
  for (unsigned i = 0; i < gimple_switch_num_labels(statement); i++)
    if (!jump(CASE_LABEL(gimple_switch_label(statement, i)), inside))
      return false;
  return true;
}

bool Search::before_try(gtry *statement, bool after, gtry *inside) {
  bool thrown_outside = thrown;
  if (gimple_try_kind(statement) == GIMPLE_TRY_FINALLY) {
    around[statement] = inside;
    thrown = cleanup(statement, thrown, inside);
    after = before(gimple_try_eval(statement), cleanup(statement, after, inside), statement);
  } else {
    gimple_seq handlers = gimple_try_cleanup(statement);
    for (gimple_stmt_iterator i = gsi_start(handlers); !gsi_end_p(i); gsi_next(&i))
      if (gcatch *handler = dyn_cast<gcatch *>(gsi_stmt(i)))
        before(gimple_catch_handler(handler), after, inside);
    thrown = false;
    after = before(gimple_try_eval(statement), after, inside);
  }
  thrown = thrown_outside;
  return after;
}

bool Search::statement(gimple_stmt_iterator gsi, bool after, gtry *inside) {
  gimple *statement = gsi_stmt(gsi);
  Event event;
  switch (gimple_code(statement)) {
  case GIMPLE_NOP:
    if (announced.over.count(statement))
      (after ? safe : unsafe).insert(statement);
    return after || announced.over.count(statement) || announced.forgotten.count(statement);
  case GIMPLE_ASSIGN:
    return after && stays(statement);
  case GIMPLE_PREDICT:
  case GIMPLE_DEBUG:
    return after;
  case GIMPLE_LABEL: {
    tree label = gimple_label_label(as_a<glabel *>(statement));
    parts[label] = inside;
    bool &known = labels[label];
    if (own)
      own->push_back(label);
    else
      changed |= known != after;
    known = after;
    return after;
  }
  case GIMPLE_GOTO:
    return jump(gimple_goto_dest(statement), inside);
  case GIMPLE_COND: {
    gcond *condition = as_a<gcond *>(statement);
    return stays(statement) && jump(gimple_cond_true_label(condition), inside) &&
           jump(gimple_cond_false_label(condition), inside);
  }
  case GIMPLE_SWITCH:
    return before_switch(as_a<gswitch *>(statement), inside);
  case GIMPLE_RETURN:
    return leaving(inside, nullptr, leaves);
  case GIMPLE_CALL:
    if (gimple_call_builtin_p(statement, BUILT_IN_UNREACHABLE))
      return true;
    if (event_called(gsi, &event))
      return after && !asks(event);
    return after && is_harmless(as_a<gcall *>(statement));
  case GIMPLE_ASM: /* that is empty, for the compiler alone */
    return after && !*gimple_asm_string(as_a<gasm *>(statement)) &&
           gimple_asm_nlabels(as_a<gasm *>(statement)) == 0;
  case GIMPLE_BIND:
    return before(gimple_bind_body(as_a<gbind *>(statement)), after, inside);
  case GIMPLE_TRY:
    return before_try(as_a<gtry *>(statement), after, inside);
  default:
    return false;
  }
}

bool Search::before(gimple_seq sequence, bool after, gtry *inside) {
  for (gimple_stmt_iterator i = gsi_last(sequence); !gsi_end_p(i); gsi_prev(&i))
    after = statement(i, after, inside);
  return after;
}

struct Settling {
  const Announced &announced;
  std::unordered_set<gimple *> needless;
};

tree settle(gimple_stmt_iterator *gsi, bool *handled, walk_stmt_info *info) {
  const Settling *settling = static_cast<const Settling *>(info->info);
  gimple *statement = gsi_stmt(*gsi);
  if (!settling->announced.over.count(statement) || settling->needless.count(statement))
    return NULL_TREE;
  gimple_seq sequence = nullptr;
  lower_onto(&sequence, if_then(gate_enabled(), call_event(Event::at, {null_pointer_node})));
  gsi_replace_with_seq(gsi, sequence, false);
  *handled = true;
  return NULL_TREE;
}

} // namespace

void take_back(gimple_seq *body, const Announced &announced, bool leaves) {
  if (announced.over.empty())
    return;
  Settling settling = {announced, Search(announced, leaves).needless(*body)};
  walk_stmt_info info;
  memset(&info, 0, sizeof info);
  info.info = &settling;
  walk_gimple_seq_mod(body, settle, nullptr, &info);
}

} // namespace aprof
