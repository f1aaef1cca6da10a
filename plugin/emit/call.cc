/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls: which lines mean them, and their pieces put together.
 *
 *     r = uv_write (req, ...);      {
 *                                     open t: create_begin (site, &t, fn_site, fn);
 *                                     r = uv_write (req, ...);
 *                                     close t: create_end (&t, req, 0, r == 0);
 *                                   }
 *
 * Where the call may throw, the closing event is in a finally part. The pieces of
 * each line are made in call-events.cc.
 */
#include <algorithm>

#include <aprof/abi.h>

#include "body.h"
#include "call-events.h"
#include "pieces.h"
#include "plugin/match/field.h"
#include "plugin/match/function-names.h"
#include "plugin/match/headers.h"
#include "plugin/match/match.h"
#include "plugin/match/types.h"
#include "site-record.h"

namespace aprof {

/* -- what is called ------------------------------------------------------------------------- */

/* The name that the source gives to what is called. */
static std::string name_of_callee(gcall *call) {
  if (tree function = gimple_call_fndecl(call))
    return name_of_function(function);
  tree pointer = through_temporaries(gimple_call_fn(call));
  if (pointer && TREE_CODE(pointer) == OBJ_TYPE_REF)
    pointer = OBJ_TYPE_REF_EXPR(pointer);
  while (pointer && (TREE_CODE(pointer) == ARRAY_REF || TREE_CODE(pointer) == ADDR_EXPR))
    pointer = TREE_OPERAND(pointer, 0);
  if (pointer && TREE_CODE(pointer) == COMPONENT_REF)
    pointer = TREE_OPERAND(pointer, 1);
  const char *text = pointer && DECL_P(pointer) ? identifier_text(DECL_NAME(pointer)) : nullptr;
  return text && !DECL_ARTIFICIAL(pointer) ? text : "(pointer)";
}

static Frame frame_of(gcall *call, tree function) {
  Frame frame;
  frame.where = gimple_location(call);
  frame.function = function;
  frame.subject = gimple_call_fndecl(call);
  tree callee = frame.subject, type = gimple_call_fntype(call);
  for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
    frame.args.push_back(gimple_call_arg(call, i));
    frame.types.push_back(parameter_type(callee, type, (int)i));
  }
  return frame;
}

/* -- before and after ------------------------------------------------------------------- */

/* Arguments that the line looks at behind the call keep their value until then. */
static void save_late_arguments(CallWork *w, const std::vector<const Binding *> &lines) {
  std::unordered_set<int> late;
  for (const Binding *b : lines)
    late_arguments(*b, w->frame, &late);
  for (int i : late) {
    if (i < 0 || i >= (int)w->frame.args.size())
      continue;
    tree &argument = w->frame.args[(size_t)i];
    if (is_gimple_min_invariant(argument) || !is_gimple_reg_type(TREE_TYPE(argument)))
      continue;
    tree saved = new_local(TYPE_MAIN_VARIANT(TREE_TYPE(argument)), "aprof_arg", &w->variables);
    append(&w->before, assign(saved, argument));
    argument = saved;
  }
  for (const Binding *b : lines) {
    auto object = w->objects.find(b);
    if (object == w->objects.end() || !late_object(*b))
      continue;
    tree saved = new_local(TREE_TYPE(object->second), "aprof_obj", &w->variables);
    append(&w->before, assign(saved, object->second));
    object->second = saved;
  }
}

/* Gives the call's result a name of its own, whatever the program does with it. */
static void provide_ret(CallWork *w) {
  tree type = gimple_call_return_type(w->call);
  if (VOID_TYPE_P(type) || gimple_call_noreturn_p(w->call))
    return;
  tree lhs = gimple_call_lhs(w->call);
  if (!is_gimple_reg_type(type)) {
    w->frame.ret = lhs;
    return;
  }
  tree result = new_local(TYPE_MAIN_VARIANT(type), "aprof_ret", &w->variables);
  gimple_call_set_lhs(w->call, result);
  if (lhs)
    gimple_seq_add_stmt(&w->inner, gimple_build_assign(lhs, result));
  w->frame.ret = result;
}

/* -- all of it ----------------------------------------------------------------------------- */

/* A regex may reach functions with fewer arguments: those it does not mean. */
static void drop_misfits(CallWork *w, std::vector<const Binding *> *lines) {
  auto misfit = [&](const Binding *b) { return b->regex && !arguments_present(*b, w->frame); };
  lines->erase(std::remove_if(lines->begin(), lines->end(), misfit), lines->end());
}

/* From the outside in: a child is created by the running future, not by nobody. */
static int depth_of(const Binding *b) {
  switch (b->verb) {
  case Verb::Span:
    return 0;
  case Verb::Create:
    return 1;
  case Verb::Run:
    return 2;
  case Verb::Idle:
    return 3;
  case Verb::Helper:
    return 4;
  case Verb::Await:
    return 5;
  case Verb::Switch:
    return 6;
  default:
    return 7;
  }
}

static gimple_seq assemble(CallWork *w) {
  gimple_seq sequence = w->inner;
  for (size_t i = w->brackets.size(); i-- > 0;) {
    Bracket &bracket = w->brackets[i];
    gimple_seq outer = nullptr, cleanup = nullptr;
    lower_onto(&sequence, bracket.normal);
    if (bracket.surely)
      w->in.announced->forgotten.insert(mark(&outer));
    lower_onto(&outer, bracket.open);
    lower_onto(&cleanup, bracket.close);
    if (w->may_throw)
      sequence = try_finally(sequence, cleanup);
    else
      gimple_seq_add_seq(&sequence, cleanup);
    gimple_seq_add_seq(&outer, sequence);
    sequence = outer;
  }
  gimple_seq whole = nullptr;
  lower_onto(&whole, w->before);
  if (w->announcement && !w->conditional)
    w->in.announced->forgotten.insert(mark(&whole));
  lower_onto(&whole, w->announcement);
  gimple_seq_add_seq(&whole, sequence);
  if (w->taken_back)
    w->in.announced->over.insert(mark(&whole));
  lower_onto(&whole, w->after);
  return whole;
}

static bool has_name(tree callee, std::initializer_list<const char *> names) {
  const char *name = callee ? identifier_text(DECL_NAME(callee)) : nullptr;
  return name && std::any_of(names.begin(), names.end(),
                             [&](const char *known) { return strcmp(name, known) == 0; });
}

static bool returns_twice(gcall *call) {
  tree callee = gimple_call_fndecl(call);
  return (callee && fndecl_built_in_p(callee, BUILT_IN_SETJMP)) ||
         (gimple_call_flags(call) & ECF_RETURNS_TWICE) != 0;
}

/* vfork comes back twice too, but in two processes: nothing has been jumped over. */
static bool is_vfork(tree callee) {
  return has_name(callee, {"vfork", "__vfork"});
}

/* Does its result, 0 at first, tell whether somebody has jumped? */
static bool tells_jumps(gcall *call) {
  tree type = gimple_call_return_type(call), callee = gimple_call_fndecl(call);
  return INTEGRAL_TYPE_P(type) && callee &&
         (fndecl_built_in_p(callee, BUILT_IN_SETJMP) ||
          has_name(callee, {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"}));
}

/* Behind the call: once somebody has jumped, where that can be told. */
static void append_resync(CallWork *w, tree statement) {
  if (w->jumped) {
    tree ret = w->frame.ret;
    statement =
        if_then(build2(NE_EXPR, boolean_type_node, ret, build_zero_cst(TREE_TYPE(ret))), statement);
  }
  append(&w->after, statement);
}

/* Of the brackets that were opened when the body was entered. */
static tree resync_innermost(const Caller &in) {
  tree statement = NULL_TREE;
  for (tree token : in.tokens)
    statement = build3(COND_EXPR, void_type_node, token_open(token),
                       call_event(Event::resync, {address_of(token)}), statement);
  return statement;
}

static std::unordered_set<unsigned> returned_to; /* DECL_UIDs */

bool is_returned_to(tree function) {
  return returned_to.count(DECL_UID(function)) != 0;
}

/* A function that is no body has no bracket: what runs before the call tells what to go back to. */
static void resync_plain(CallWork *w) {
  tree token = new_lasting_token();
  append(&w->before, clear_token(token));
  append(&w->before, if_then(gate_enabled(), call_event(Event::here, {address_of(token)})));
  append_resync(w, if_then(token_open(token), call_event(Event::resync, {address_of(token)})));
}

static void replace(gimple_stmt_iterator *gsi, gimple *statement, CallWork *w) {
  /* A statement is in one sequence at a time: out of the old one first. */
  gsi_replace(gsi, gimple_build_nop(), false);
  gimple_seq result_copy = w->inner;
  w->inner = nullptr;
  gimple_seq_add_stmt(&w->inner, statement);
  gimple_seq_add_seq(&w->inner, result_copy);
  std::vector<tree> tokens;
  for (const Bracket &bracket : w->brackets)
    tokens.push_back(bracket.token);
  gsi_replace(gsi, bind_of(w->variables, assemble(w), tokens), false);
}

/* The lines about a member, and what obj is to each. */
static void add_field_lines(CallWork *w, Place place, tree member,
                            std::vector<const Binding *> *lines) {
  for (const FieldLine &found : field_lines(place, member)) {
    lines->push_back(found.line);
    w->objects[found.line] = build_fold_addr_expr(unshare_expr(found.object));
  }
}

/* An end that leaves nobody to wait in this call. */
static void find_leaving(CallWork *w, const std::vector<const Binding *> &lines, bool awaited) {
  for (const Binding *b : lines)
    if (!w->leaving && nobody_returns(*b, w->call, awaited))
      w->leaving = b;
  if (w->leaving && w->leaving->when && awaited)
    w->left = new_local(integer_type_node, "aprof_left", &w->variables);
}

/* Of several spans the first: they are one stretch of time. */
static void keep_one_span(std::vector<const Binding *> *lines) {
  bool known = false;
  auto further = [&](const Binding *b) {
    bool again = known;
    known |= b->verb == Verb::Span;
    return again && b->verb == Verb::Span;
  };
  lines->erase(std::remove_if(lines->begin(), lines->end(), further), lines->end());
}

bool instrument_call(gimple_stmt_iterator *gsi, const Caller &in) {
  gcall *call = as_a<gcall *>(gsi_stmt(*gsi));
  if (gimple_call_internal_p(call))
    return false;
  tree callee = gimple_call_fndecl(call), type = gimple_call_fntype(call);
  if (callee && is_inline_form_of(in.decl, callee))
    return false;
  bool twice = returns_twice(call);
  std::vector<const Binding *> lines;
  if (!twice) /* a bracket cannot be closed twice */
    lines = call_lines(callee, type);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [&](const Binding *b) { return is_library_itself(b, in.decl); }),
              lines.end());
  CallWork w{in, call, "", Frame(), flag_exceptions && !gimple_call_nothrow_p(call)};
  tree member = !callee && fields_matter(Place::Icall) ? called_member(*gsi) : NULL_TREE;
  if (member)
    add_field_lines(&w, Place::Icall, member, &lines);
  if (!lines.empty()) {
    w.frame = frame_of(call, in.decl);
    drop_misfits(&w, &lines);
    keep_one_span(&lines);
  }
  bool awaited = std::any_of(lines.begin(), lines.end(),
                             [](const Binding *b) { return b->verb == Verb::Await; });
  w.enters = (in.is_body || in.has_block || awaited) && enters_future(callee, type);
  bool at = w.enters && !awaited;
  bool resync = twice && !in.outlined && !is_vfork(callee);
  if (lines.empty() && !at && !resync)
    return false;

  w.frame = frame_of(call, in.decl);
  w.callee = name_of_callee(call);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Binding *a, const Binding *b) { return depth_of(a) < depth_of(b); });
  save_late_arguments(&w, lines);
  w.jumped = resync && tells_jumps(call);
  if (w.jumped ||
      std::any_of(lines.begin(), lines.end(), [](const Binding *b) { return uses_ret(*b); }))
    provide_ret(&w);
  find_leaving(&w, lines, awaited);
  for (const Binding *b : lines)
    add_line(&w, b);
  if (at)
    add_announcement(&w, nullptr);
  if (resync)
    returned_to.insert(DECL_UID(in.decl));
  if (resync && !in.is_body)
    resync_plain(&w);
  if (resync && !in.tokens.empty())
    append_resync(&w, resync_innermost(in));
  replace(gsi, call, &w);
  return true;
}

bool instrument_store(gimple_stmt_iterator *gsi, const Caller &in) {
  gimple *statement = gsi_stmt(*gsi);
  tree member = gimple_assign_lhs(statement);
  if (!fields_matter(Place::Store) || TREE_CODE(member) != COMPONENT_REF ||
      !gimple_assign_single_p(statement) || !is_gimple_val(gimple_assign_rhs1(statement)))
    return false;
  CallWork w{in, nullptr, "", Frame(), false};
  tree value = gimple_assign_rhs1(statement);
  std::vector<const Binding *> lines;
  add_field_lines(&w, Place::Store, member, &lines);
  w.frame.where = gimple_location(statement);
  w.frame.function = in.decl;
  w.frame.subject = NULL_TREE;
  w.frame.args = {value};
  w.frame.types = {TREE_TYPE(member)};
  auto other = [&](const Binding *b) { return integer_zerop(is_stored(*b, w.frame)); };
  lines.erase(std::remove_if(lines.begin(), lines.end(), other), lines.end());
  if (lines.empty())
    return false;
  w.callee = lines[0]->name;
  for (const std::string &field : lines[0]->fields)
    w.callee += "." + field;
  save_late_arguments(&w, lines);
  for (const Binding *b : lines)
    add_line(&w, b);
  replace(gsi, statement, &w);
  return true;
}

} // namespace aprof
