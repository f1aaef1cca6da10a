/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one line puts around a call: brackets, and events of no extent.
 *
 *     create, run, idle, await...   a Bracket: opened before, closed behind
 *     wake, end, label              an instant: before the call, since from then on
 *                                   another thread may act on it; behind it where
 *                                   it depends on the result
 */
#include <algorithm>

#include <aprof/abi.h>

#include "body.h"
#include "call-events.h"
#include "coverage.h"
#include "instant.h"
#include "pieces.h"
#include "plugin/diagnose.h"
#include "plugin/match/attribute.h"
#include "plugin/match/bindings.h"
#include "plugin/match/field.h"
#include "plugin/match/headers.h"
#include "plugin/match/match.h"
#include "plugin/settings.h"
#include "site-record.h"
#include "told.h"

namespace aprof {

int unwound_how() {
  return lang_GNU_CXX() ? APROF_FAILED : APROF_CANCELLED;
}

bool uses_ret(const Binding &b) {
  bool uses = b.pending || b.polling;
  binding_visit(b, [&](const Value *value) { uses |= value_uses(value, Value::Ret); });
  return uses;
}

/* flag (and when=): statements */
static tree if_enabled(CallWork *w, const Binding *b, tree statements) {
  if (b && b->stored) {
    tree stored = is_stored(*b, w->frame);
    statements = integer_onep(stored) ? statements : if_then(stored, statements);
  }
  if (b && b->when) {
    tree condition = condition_tree(b->when, w->frame, *b);
    if (!condition)
      return NULL_TREE;
    statements = if_then(condition, statements);
  }
  return if_then(gate_enabled(), statements);
}

/* Beside the flag. */
static bool is_conditional(const Binding *b) {
  return b && (b->stored || b->when);
}

static tree site(CallWork *w, aprof_site_kind kind, const Binding *b) {
  return site_new(kind, w->callee, w->frame.where, w->in.decl, b, 0);
}

/* tok = 0; if (flag && when) event */
static tree opening(CallWork *w, const Binding *b, tree token, tree event) {
  tree open = NULL_TREE;
  append(&open, clear_token(token));
  append(&open, if_enabled(w, b, event));
  return open;
}

/* -- brackets ------------------------------------------------------------------------------ */

/* Where the future that runs is over before the call, nobody is left to wait. */
static tree unless_left(CallWork *w, const Bracket &bracket) {
  tree open = NULL_TREE;
  append(&open, clear_token(bracket.token));
  append(&open, if_then(build2(EQ_EXPR, boolean_type_node, w->left, number(0)), bracket.open));
  return open;
}

static void add_extent(CallWork *w, const Binding *b, aprof_site_kind kind, Event begin,
                       Event end) {
  Bracket bracket;
  tree key0, key1;
  bracket.token = new_token(&w->variables);
  std::vector<tree> arguments = {site(w, kind, b), address_of(bracket.token)};
  if (b->verb == Verb::Switch) {
    if (!key_trees(*b, b->key, w->frame, &key0, &key1))
      return;
    arguments.insert(arguments.end(), {key0, key1});
  }
  tree guard = guard_of_key(b->key, w->frame, *b);
  bracket.open = opening(w, b, bracket.token, if_given(guard, call_event(begin, arguments)));
  bool unless = b->verb == Verb::Await && w->left;
  if (unless)
    bracket.open = unless_left(w, bracket);
  bracket.surely = begin != Event::idle_begin && !guard && !unless && !is_conditional(b);
  bracket.close = if_then(token_open(bracket.token), call_event(end, {address_of(bracket.token)}));
  w->brackets.push_back(bracket);
}

/* A span, or whose tier a wait is. */
static void add_time(CallWork *w, const Binding *b, aprof_site_kind kind) {
  add_extent(w, b, kind, Event::span_begin, Event::span_end);
  w->timed = true;
}

static bool is_defined_here(tree function) {
  cgraph_node *node = cgraph_node::get(function);
  return (node && node->definition) || DECL_SAVED_TREE(function);
}

/* The function behind fn=, if the call names one. */
static tree named_function(const Value *value, CallWork *w) {
  if (value->kind != Value::Arg || !w->call)
    return NULL_TREE;
  int64_t index = value->number < 0 ? (int64_t)w->frame.args.size() + value->number : value->number;
  if (index < 0 || index >= (int64_t)w->frame.args.size())
    return NULL_TREE;
  tree argument = through_temporaries(gimple_call_arg(w->call, (unsigned)index));
  if (!argument || TREE_CODE(argument) != ADDR_EXPR ||
      TREE_CODE(TREE_OPERAND(argument, 0)) != FUNCTION_DECL)
    return NULL_TREE;
  return TREE_OPERAND(argument, 0);
}

/* ... that this unit defines. */
static tree known_function(const Value *value, CallWork *w) {
  tree function = named_function(value, w);
  return function && is_defined_here(function) ? function : NULL_TREE;
}

/* Are all of its callbacks functions of the system, such as free? No event would show their runs,
   and their futures would live until the next one has their key. */
static bool runs_unseen(const Binding &b, CallWork *w) {
  if (!b.run_of_functions() || b.functions.empty())
    return false;
  for (const auto &value : b.functions) {
    tree function = named_function(value.get(), w);
    if (!function || is_defined_here(function) || !is_of_platform(function))
      return false;
  }
  return true;
}

/* A value that is known behind the call only, taken once and kept. */
static tree kept(CallWork *w, Bracket *bracket, tree value, tree initial, const char *name) {
  tree variable = new_local(TREE_TYPE(value), name, &w->variables);
  append(&bracket->open, assign(variable, initial));
  append(&bracket->normal, assign(variable, value));
  return variable;
}

static tree kept_for_finally(CallWork *w, Bracket *bracket, tree value, tree initial,
                             const char *name) {
  return w->may_throw ? kept(w, bracket, value, initial, name) : value;
}

static void guard_normal(Bracket *bracket) {
  if (bracket->normal)
    bracket->normal = if_then(token_open(bracket->token), bracket->normal);
}

/* When it should run, said as soon as it is there. */
static tree due_event(CallWork *w, const Binding *b, tree token) {
  tree given;
  tree ns = due_tree(*b, w->frame, &given);
  if (!ns)
    return NULL_TREE;
  tree event = call_event(Event::due, {address_of(token), ns});
  return if_then(token_open(token), if_then(given, event));
}

static bool is_plain(const Value *v) {
  for (; v && v->kind == Value::Mask; v = v->of.get())
    ;
  return !v || v->kind == Value::Arg || v->kind == Value::Self || v->kind == Value::Number;
}

static bool asks_of_plain(const Value *v) {
  if (!v || v->kind != Value::Call)
    return false;
  for (const auto &argument : v->args)
    if (!is_plain(argument.get()))
      return false;
  return true;
}

/* fn= asks a function about an argument, before the call: what the key asks about it is known then,
   too, and perhaps not behind the call, where the object may have run and be freed. */
static bool key_is_asked_early(const Binding &b) {
  auto known = [](const Value *v) { return is_plain(v) || asks_of_plain(v); };
  return b.then_run && b.key.first && !b.functions.empty() && asks_of_plain(b.functions[0].get()) &&
         known(b.key.first.get()) && known(b.key.second.get());
}

/* Another thread, or the call itself, may run the future before the call returns: it
   must find the key then, if the arguments tell it. */
static bool key_is_early(const Binding &b) {
  return b.then_run && b.key.first && is_plain(b.key.first.get()) && is_plain(b.key.second.get());
}

/* The value, taken in `open`. */
static tree taken(CallWork *w, tree value, const char *name, tree *zeros, tree *open) {
  tree variable = new_local(TREE_TYPE(value), name, &w->variables);
  append(zeros, assign(variable, build_zero_cst(TREE_TYPE(value))));
  append(open, assign(variable, value));
  return variable;
}

static void add_create(CallWork *w, const Binding *b) {
  Bracket bracket;
  tree function = null_pointer_node, address = null_pointer_node, key0, key1;
  if (runs_unseen(*b, w)) {
    if (settings.verbose)
      inform(w->frame.where, "aprof: no future: its callback is a function of the system");
    return;
  }
  if (!b->functions.empty()) {
    address = function_tree(b->functions[0].get(), w->frame, *b);
    if (tree known = known_function(b->functions[0].get(), w))
      function = site_of_function(known);
  }
  tree ok = condition_tree(b->ok, w->frame, *b);
  if (!address || !ok || !key_trees(*b, b->key, w->frame, &key0, &key1))
    return;
  if (tree holds = guard_of_key(b->key, w->frame, *b))
    ok = build2(TRUTH_ANDIF_EXPR, boolean_type_node, holds, ok);
  bracket.token = new_token(&w->variables);
  tree begin = NULL_TREE, zeros = NULL_TREE;
  bool asked = key_is_asked_early(*b);
  if (asked) {
    key0 = taken(w, key0, "aprof_key", &zeros, &begin);
    key1 = taken(w, key1, "aprof_key", &zeros, &begin);
  }
  tree record = site_new(APROF_SITE_CREATE, w->callee, w->frame.where, w->in.decl, b, 0, nullptr,
                         b->is_spawn() ? "" : w->tier);
  append(&begin,
         call_event(Event::create_begin, {record, address_of(bracket.token), function, address}));
  append(&begin, about_events(*b, w->frame, bracket.token, Known::Before, &w->variables));
  if (!b->due.empty())
    append(&begin, due_event(w, b, bracket.token));
  if (asked || key_is_early(*b))
    append(&begin,
           if_then(token_open(bracket.token),
                   call_event(Event::create_key, {address_of(bracket.token), unshare_expr(key0),
                                                  unshare_expr(key1)})));
  append(&zeros, opening(w, b, bracket.token, begin));
  bracket.open = zeros;
  tree zero = build_int_cst(uint64_type_node, 0);
  if (asked) {
    /* As it was then. */
  } else if (b->key.first && b->key.first->kind == Value::Call) {
    /* The object that the key asks for may be gone already: run and freed by another thread. */
    key0 = kept(w, &bracket, key0, zero, "aprof_key");
    ok = build2(TRUTH_ANDIF_EXPR, boolean_type_node, ok,
                build2(NE_EXPR, boolean_type_node, key0, zero));
  } else {
    key0 = kept_for_finally(w, &bracket, key0, zero, "aprof_key");
  }
  key1 = asked ? key1 : kept_for_finally(w, &bracket, key1, zero, "aprof_key");
  ok = kept_for_finally(w, &bracket, fold_convert(integer_type_node, ok), number(0), "aprof_ok");
  append(&bracket.normal, about_events(*b, w->frame, bracket.token, Known::Behind, &w->variables));
  guard_normal(&bracket);
  bracket.close =
      if_then(token_open(bracket.token),
              call_event(Event::create_end, {address_of(bracket.token), key0, key1, ok}));
  w->brackets.push_back(bracket);
}

static tree either(tree condition, int yes, int no) {
  return fold_build3(COND_EXPR, integer_type_node, condition, number(yes), number(no));
}

/* The end of a run around a call; null after an error. */
static tree how_of_run(CallWork *w, const Binding *b) {
  if (b->pending || b->polling) {
    tree ret = w->frame.ret;
    if (ret && (INTEGRAL_TYPE_P(TREE_TYPE(ret)) || POINTER_TYPE_P(TREE_TYPE(ret))))
      return stackless_how(*b, ret);
    error_at(w->frame.where, "%qs needs a return value, which %qs does not give",
             b->pending ? "pending=" : "polling=", w->callee.c_str());
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
  if (!how || !key_trees(*b, b->key, w->frame, &key0, &key1))
    return;
  unsigned flags = namespace_has_create(b->key.ns) ? 0 : APROF_ORPHAN;
  flags |= b->is_silent() ? APROF_QUIET : 0;
  tree record = site_new(APROF_SITE_RUN, w->callee, w->frame.where, w->in.decl, b, flags);
  bracket.token = new_token(&w->variables);
  tree function = null_pointer_node;
  if (!b->functions.empty())
    function = function_tree(b->functions[0].get(), w->frame, *b);
  if (!function)
    return;
  tree event = call_event(Event::run_begin, {record, address_of(bracket.token), key0, key1,
                                             null_pointer_node, function});
  tree events = NULL_TREE;
  append(&events, event);
  append(&events, run_for_event(*b, w->frame, bracket.token));
  append(&events, about_events(*b, w->frame, bracket.token, Known::Before, &w->variables));
  bracket.open = opening(w, b, bracket.token, if_given(guard_of_key(b->key, w->frame, *b), events));
  how = kept_for_finally(w, &bracket, how, number(unwound_how()), "aprof_how");
  guard_normal(&bracket);
  bracket.close =
      if_then(token_open(bracket.token),
              call_event(Event::run_end, {address_of(bracket.token), how, null_pointer_node}));
  w->brackets.push_back(bracket);
}

/* -- events of no extent -------------------------------------------------------------------- */

bool nobody_returns(const Binding &b, gcall *call, bool awaited) {
  bool before = b.verb == Verb::End && !b.ok && !uses_ret(b);
  bool of_current = b.key.first && b.key.first->kind == Value::Cur;
  return before &&
         (b.noreturn || (call && gimple_call_noreturn_p(call)) || (of_current && awaited));
}

static void add_instant(CallWork *w, const Binding *b) {
  bool awaited = w->leaving == b;
  tree event =
      instant_event(*b, w->frame, w->callee,
                    nobody_returns(*b, w->call, awaited) ? APROF_NORETURN : 0, &w->variables);
  if (!event)
    return;
  if (awaited && w->left) {
    append(&w->before, assign(w->left, number(0)));
    append(&event, assign(w->left, number(1)));
  }
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

/* The callee's body begins for certain. */
static bool surely_begins(tree callee) {
  if (!callee || !is_defined_here(callee) || DECL_WEAK(callee))
    return false;
  return body_lines(callee).surely();
}

/* Announces the line at which the caller waits, and takes that back where no body has begun. */
void add_announcement(CallWork *w, const Binding *await) {
  tree record = site(w, await ? APROF_SITE_AWAIT : APROF_SITE_CALL, await);
  tree event = if_enabled(w, await, call_event(Event::at, {record}));
  append(w->timed ? &w->brackets.back().open : &w->announcement, event);
  w->conditional = is_conditional(await);
  w->taken_back = !surely_begins(w->frame.subject);
}

void add_line(CallWork *w, const Binding *b) {
  say_line(w, b);
  auto object = w->objects.find(b);
  w->frame.obj = object == w->objects.end() ? NULL_TREE : object->second;
  if (b->token_out)
    append(&w->before, if_enabled(w, b, token_out_event(*b, w->frame)));
  switch (b->verb) {
  case Verb::Create:
    return add_create(w, b);
  case Verb::Run:
    return add_run(w, b);
  case Verb::Await:
    if (w->leaving && !w->left)
      return;
    if (!b->tier.empty())
      add_time(w, b, APROF_SITE_TIER);
    if (w->enters) /* the wait is that of the future behind it */
      return add_announcement(w, b);
    return add_extent(w, b, APROF_SITE_AWAIT, Event::suspend, Event::resume);
  case Verb::Helper:
    return add_extent(w, b, APROF_SITE_AWAIT, Event::suspend, Event::resume);
  case Verb::Switch:
    return add_extent(w, b, APROF_SITE_SWITCH, Event::switch_to, Event::resume);
  case Verb::Blocking:
    return add_extent(w, b, APROF_SITE_BLOCKING, Event::blocking_begin, Event::blocking_end);
  case Verb::Idle:
    return add_extent(w, b, APROF_SITE_IDLE, Event::idle_begin, Event::idle_end);
  case Verb::Span:
    w->tier = b->when ? "" : b->tier;
    return add_time(w, b, APROF_SITE_SPAN);
  case Verb::Label:
    if (b->label.value)
      add_instant(w, b);
    return;
  case Verb::Wake:
  case Verb::End:
    return add_instant(w, b);
  case Verb::Async:
  case Verb::Request:
    return;
  }
}

} // namespace aprof
