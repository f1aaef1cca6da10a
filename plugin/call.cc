/*
 * Calls: what their lines put around them.
 *
 *     r = uv_write (req, ...);      {
 *                                     open t: create_begin (site, &t, fn_site, fn);
 *                                     r = uv_write (req, ...);
 *                                     close t: create_end (&t, req, 0, r == 0);
 *                                   }
 *
 * Where the call may throw, the closing event is in a finally part. Events of
 * no extent (wake, end, at) come before the call, since from then on another
 * thread may act on them; after it where they depend on its result.
 */
#include <algorithm>

#include <aprof/abi.h>

#include "body.h"
#include "call.h"
#include "diagnose.h"
#include "emit.h"
#include "options.h"
#include "scan.h"
#include "site.h"
#include "types.h"

namespace aprof {

/* A pair of opening and closing events around the call. */
struct Bracket {
  tree token = NULL_TREE;
  tree open = NULL_TREE;   /* statements before */
  tree normal = NULL_TREE; /* statements after it came to its end */
  tree close = NULL_TREE;  /* statements whichever way it is left */
};

struct CallWork {
  const Caller &in;
  gcall *call;
  std::string callee;
  Frame frame;
  bool may_throw;
  tree variables = NULL_TREE;
  tree before = NULL_TREE, after = NULL_TREE;
  gimple_seq inner = nullptr;
  std::vector<Bracket> brackets = {};
};

int unwound_how() {
  return lang_GNU_CXX() ? APROF_FAILED : APROF_CANCELLED;
}

/* -- what is called ------------------------------------------------------------------------- */

/* The expression behind the compiler's temporaries. */
static tree through_temporaries(tree value) {
  for (int steps = 0; steps < 8 && value && TREE_CODE(value) == SSA_NAME; steps++) {
    gimple *set = SSA_NAME_DEF_STMT(value);
    if (is_gimple_call(set)) {
      tree callee = gimple_call_fndecl(set);
      bool one = callee && returned_by(callee).size() == 1;
      return one ? build_fold_addr_expr(returned_by(callee)[0]) : value;
    }
    if (!set || !is_gimple_assign(set) || gimple_num_ops(set) != 2)
      return value;
    value = gimple_assign_rhs1(set);
  }
  return value;
}

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

/* -- before and after ---------------------------------------------------------------------------
 */

/* Arguments that are looked at behind the call keep their value until then. */
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
}

static bool uses_ret(const Binding &b) {
  const Value *values[] = {b.key.first.get(), b.key.second.get(), b.ok.what.get(),
                           b.once_if.what.get()};
  return b.pending || std::any_of(std::begin(values), std::end(values),
                                  [](const Value *v) { return value_uses(v, Value::Ret); });
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

/* flag (and when=): statements */
static tree if_enabled(CallWork *w, const Binding *b, tree statements) {
  if (b && b->when) {
    tree condition = condition_tree(b->when, w->frame, *b);
    if (!condition)
      return NULL_TREE;
    statements = if_then(condition, statements);
  }
  return if_then(gate_enabled(), statements);
}

static tree site(CallWork *w, aprof_site_kind kind, const Binding *b) {
  return site_new(kind, w->callee, w->frame.where, w->in.decl, b, 0);
}

/* tok = 0; if (flag && when) { tok...; event } */
static tree opening(CallWork *w, const Binding *b, tree token, tree event) {
  tree open = NULL_TREE, inside = clear_token_rest(token);
  append(&open, clear_token(token));
  append(&inside, event);
  append(&open, if_enabled(w, b, inside));
  return open;
}

/* -- brackets
 * --------------------------------------------------------------------------------------- */

static void add_extent(CallWork *w, const Binding *b, aprof_site_kind kind, Event begin,
                       Event end) {
  Bracket bracket;
  bracket.token = new_token(&w->variables);
  bracket.open = opening(w, b, bracket.token,
                         call_event(begin, {site(w, kind, b), address_of(bracket.token)}));
  bracket.close = if_then(token_open(bracket.token), call_event(end, {address_of(bracket.token)}));
  w->brackets.push_back(bracket);
}

/* The function behind fn=, if the call names one that this unit defines. */
static tree known_function(const Value *value, CallWork *w) {
  if (value->kind != Value::Arg)
    return NULL_TREE;
  int64_t index = value->number < 0 ? (int64_t)w->frame.args.size() + value->number : value->number;
  if (index < 0 || index >= (int64_t)w->frame.args.size())
    return NULL_TREE;
  tree argument = through_temporaries(gimple_call_arg(w->call, (unsigned)index));
  if (!argument || TREE_CODE(argument) != ADDR_EXPR ||
      TREE_CODE(TREE_OPERAND(argument, 0)) != FUNCTION_DECL)
    return NULL_TREE;
  tree function = TREE_OPERAND(argument, 0);
  cgraph_node *node = cgraph_node::get(function);
  bool defined = (node && node->definition) || DECL_SAVED_TREE(function);
  return defined ? function : NULL_TREE;
}

/* A value that is known behind the call only, kept for a finally part. */
static tree kept_for_finally(CallWork *w, Bracket *bracket, tree value, tree initial,
                             const char *name) {
  if (!w->may_throw)
    return value;
  tree variable = new_local(TREE_TYPE(value), name, &w->variables);
  append(&bracket->open, assign(variable, initial));
  append(&bracket->normal, assign(variable, value));
  return variable;
}

static void guard_normal(Bracket *bracket) {
  if (bracket->normal)
    bracket->normal = if_then(token_open(bracket->token), bracket->normal);
}

static void add_create(CallWork *w, const Binding *b) {
  Bracket bracket;
  tree function = null_pointer_node, address = null_pointer_node, key0, key1;
  if (!b->functions.empty()) {
    address = value_tree(b->functions[0].get(), w->frame, *b);
    if (tree known = known_function(b->functions[0].get(), w))
      function = site_of_function(known);
  }
  tree ok = condition_tree(b->ok, w->frame, *b);
  if (!address || !ok || !key_trees(*b, w->frame, &key0, &key1))
    return;
  bracket.token = new_token(&w->variables);
  bracket.open =
      opening(w, b, bracket.token,
              call_event(Event::CreateBegin, {site(w, APROF_SITE_CREATE, b),
                                              address_of(bracket.token), function, address}));
  tree zero = build_int_cst(uint64_type_node, 0);
  key0 = kept_for_finally(w, &bracket, key0, zero, "aprof_key");
  key1 = kept_for_finally(w, &bracket, key1, zero, "aprof_key");
  ok = kept_for_finally(w, &bracket, fold_convert(integer_type_node, ok), number(0), "aprof_ok");
  guard_normal(&bracket);
  bracket.close =
      if_then(token_open(bracket.token),
              call_event(Event::CreateEnd, {address_of(bracket.token), key0, key1, ok}));
  w->brackets.push_back(bracket);
}

static tree either(tree condition, int yes, int no) {
  return fold_build3(COND_EXPR, integer_type_node, condition, number(yes), number(no));
}

/* The end of a run around a call; null after an error. */
static tree how_of_run(CallWork *w, const Binding *b) {
  if (b->pending) {
    tree ret = w->frame.ret;
    if (ret && (INTEGRAL_TYPE_P(TREE_TYPE(ret)) || POINTER_TYPE_P(TREE_TYPE(ret))))
      return either(one_of(ret, b->pending_values), APROF_PENDING, APROF_DONE);
    error_at(w->frame.where, "%<pending=%> needs a return value, which %qs does not give",
             w->callee.c_str());
    note_binding(*b, w->frame.subject);
    return NULL_TREE;
  }
  if (!b->once_if)
    return number(b->once ? APROF_DONE : APROF_PENDING);
  tree condition = condition_tree(b->once_if, w->frame, *b);
  return condition ? either(condition, APROF_DONE, APROF_PENDING) : NULL_TREE;
}

static void add_run(CallWork *w, const Binding *b) {
  Bracket bracket;
  tree key0, key1, how = how_of_run(w, b);
  if (!how || !key_trees(*b, w->frame, &key0, &key1))
    return;
  unsigned orphan = namespace_has_create(b->key.ns) ? 0 : APROF_ORPHAN;
  tree record = site_new(APROF_SITE_RUN, w->callee, w->frame.where, w->in.decl, b, orphan);
  bracket.token = new_token(&w->variables);
  bracket.open = opening(w, b, bracket.token,
                         call_event(Event::RunBegin, {record, address_of(bracket.token), key0, key1,
                                                      null_pointer_node, null_pointer_node}));
  how = kept_for_finally(w, &bracket, how, number(unwound_how()), "aprof_how");
  guard_normal(&bracket);
  bracket.close =
      if_then(token_open(bracket.token),
              call_event(Event::RunEnd, {address_of(bracket.token), how, null_pointer_node}));
  w->brackets.push_back(bracket);
}

/* -- events of no extent
 * -------------------------------------------------------------------------------- */

static tree moment_event(CallWork *w, const Binding *b) {
  bool wake = b->verb == Verb::Wake;
  tree record = site(w, wake ? APROF_SITE_WAKE : APROF_SITE_END, b);
  tree how = number(b->how == How::Done     ? APROF_DONE
                    : b->how == How::Failed ? APROF_FAILED
                                            : APROF_CANCELLED);
  if (b->key.first->kind == Value::Cur)
    return wake ? call_event(Event::WakeCurrent, {record})
                : call_event(Event::EndCurrent, {record, how});
  tree key0, key1;
  if (!key_trees(*b, w->frame, &key0, &key1))
    return NULL_TREE;
  return wake ? call_event(Event::Wake, {record, key0, key1})
              : call_event(Event::End, {record, key0, key1, how});
}

static void add_moment(CallWork *w, const Binding *b) {
  tree event = moment_event(w, b);
  if (!event)
    return;
  if (!b->ok && !uses_ret(*b)) {
    append(&w->before, if_enabled(w, b, event));
    return;
  }
  tree ok = condition_tree(b->ok, w->frame, *b);
  if (!ok)
    return;
  event = if_then(ok, event);
  if (b->when) { /* decided before, acted on after */
    tree armed = new_local(integer_type_node, "aprof_armed", &w->variables);
    append(&w->before, assign(armed, number(0)));
    append(&w->before, if_enabled(w, b, assign(armed, number(1))));
    event = if_then(build2(NE_EXPR, boolean_type_node, armed, number(0)), event);
  }
  append(&w->after, if_then(gate_enabled(), event));
}

/* -- all of it
 * ---------------------------------------------------------------------------------------------- */

static void say(CallWork *w, const Binding *b) {
  if (options.verbose)
    inform(w->frame.where, "aprof: call of %qs: %qs (%s)", w->callee.c_str(), b->text.c_str(),
           binding_origin(*b).c_str());
}

/* A regex may reach functions with fewer arguments: those it does not mean. */
static void drop_misfits(CallWork *w, std::vector<const Binding *> *lines) {
  auto misfit = [&](const Binding *b) { return b->regex && !arguments_present(*b, w->frame); };
  lines->erase(std::remove_if(lines->begin(), lines->end(), misfit), lines->end());
}

static void add_line(CallWork *w, const Binding *b) {
  say(w, b);
  switch (b->verb) {
  case Verb::Create:
    return add_create(w, b);
  case Verb::Run:
    return add_run(w, b);
  case Verb::Await:
    return add_extent(w, b, APROF_SITE_AWAIT, Event::Suspend, Event::Resume);
  case Verb::Idle:
    return add_extent(w, b, APROF_SITE_IDLE, Event::IdleBegin, Event::IdleEnd);
  case Verb::Wake:
  case Verb::End:
    return add_moment(w, b);
  case Verb::Async:
  case Verb::Switch:
  case Verb::Blocking:
  case Verb::Helper:
    return;
  }
}

/* From the outside in: a child is created by the running future, not by nobody. */
static int depth_of(const Binding *b) {
  return b->verb == Verb::Create ? 1 : b->verb == Verb::Run ? 2 : b->verb == Verb::Idle ? 3 : 4;
}

static gimple_seq assemble(CallWork *w) {
  gimple_seq sequence = w->inner;
  for (size_t i = w->brackets.size(); i-- > 0;) {
    Bracket &bracket = w->brackets[i];
    gimple_seq outer = nullptr, cleanup = nullptr;
    lower_onto(&sequence, bracket.normal);
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
  gimple_seq_add_seq(&whole, sequence);
  lower_onto(&whole, w->after);
  return whole;
}

static bool returns_twice(gcall *call) {
  tree callee = gimple_call_fndecl(call);
  return (callee && fndecl_built_in_p(callee, BUILT_IN_SETJMP)) ||
         (gimple_call_flags(call) & ECF_RETURNS_TWICE) != 0;
}

/* vfork comes back twice too, but in two processes: nothing has been jumped over. */
static bool is_vfork(tree callee) {
  const char *name = callee ? identifier_text(DECL_NAME(callee)) : nullptr;
  return name && (strcmp(name, "vfork") == 0 || strcmp(name, "__vfork") == 0);
}

static void replace(gimple_stmt_iterator *gsi, CallWork *w) {
  /* A statement is in one sequence at a time: out of the old one first. */
  gsi_replace(gsi, gimple_build_nop(), false);
  gimple_seq result_copy = w->inner;
  w->inner = nullptr;
  gimple_seq_add_stmt(&w->inner, w->call);
  gimple_seq_add_seq(&w->inner, result_copy);
  std::vector<tree> tokens;
  for (const Bracket &bracket : w->brackets)
    tokens.push_back(bracket.token);
  gsi_replace(gsi, bind_of(w->variables, assemble(w), tokens), false);
}

bool instrument_call(gimple_stmt_iterator *gsi, const Caller &in) {
  gcall *call = as_a<gcall *>(gsi_stmt(*gsi));
  if (gimple_call_internal_p(call))
    return false;
  tree callee = gimple_call_fndecl(call), type = gimple_call_fntype(call);
  bool twice = returns_twice(call);
  std::vector<const Binding *> lines;
  if (!twice) /* a bracket cannot be closed twice */
    lines = call_lines(callee, type);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [&](const Binding *b) { return is_library_itself(b, in.decl); }),
              lines.end());
  CallWork w{in, call, "", Frame(), flag_exceptions && !gimple_call_nothrow_p(call)};
  if (!lines.empty()) {
    w.frame = frame_of(call, in.decl);
    drop_misfits(&w, &lines);
  }
  bool awaited = std::any_of(lines.begin(), lines.end(),
                             [](const Binding *b) { return b->verb == Verb::Await; });
  bool at = in.is_body && !awaited && is_async(callee, type);
  bool resync = twice && in.innermost && !is_vfork(callee);
  if (lines.empty() && !at && !resync)
    return false;

  w.frame = frame_of(call, in.decl);
  w.callee = name_of_callee(call);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Binding *a, const Binding *b) { return depth_of(a) < depth_of(b); });
  save_late_arguments(&w, lines);
  if (std::any_of(lines.begin(), lines.end(), [](const Binding *b) { return uses_ret(*b); }))
    provide_ret(&w);
  for (const Binding *b : lines)
    add_line(&w, b);
  if (at)
    append(&w.before,
           if_then(gate_enabled(), call_event(Event::At, {site(&w, APROF_SITE_CALL, nullptr)})));
  if (resync)
    append(&w.after, if_then(token_open(in.innermost),
                             call_event(Event::Resync, {address_of(in.innermost)})));
  replace(gsi, &w);
  return true;
}

} // namespace aprof
