/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is said of a line that holds for a call: with verbose that it does, a warning where it
 * likely means something else, and the notes of `aprof coverage`.
 *
 * Cost: nothing at run time. Locking: none.
 */
#include "call-events.h"
#include "coverage.h"
#include "plugin/diagnose.h"
#include "plugin/match/attribute.h"
#include "plugin/match/bindings.h"
#include "plugin/match/body-lines.h"
#include "plugin/settings.h"

namespace aprof {

/* A run line of its own does not say that the futures wait until it holds. */
static void say_queued(CallWork *w, const Binding *b) {
  bool asked = b->key.first || !b->functions.empty();
  if (b->verb != Verb::Create || b->ready || !asked || !b->is_spawn())
    return;
  if (b->background)
    inform(w->frame.where,
           "aprof: its futures are queued until their first run, whatever %<background%> says: "
           "a %<| run%> with %<once%> or %<multi%> makes them wait");
  else
    inform(w->frame.where, "aprof: its futures are queued until their first run: %<ready%>, or "
                           "a %<| run%> with %<once%> or %<multi%>, says which is meant");
}

/* A run line of its own with the words of a callback, which waits to be called: of the create's
   namespace and author, about bodies or calls that the program makes. */
static const Binding *callback_run(const Binding &create) {
  auto is_callback = [&](const Binding *run) {
    bool called = run->place != Place::Call && ((run->once && !run->once_if) || run->multi);
    return run->verb == Verb::Run && called && run->key.ns == create.key.ns &&
           run->library == create.library;
  };
  for (const auto &b : bindings())
    if (is_callback(b.get()))
      return b.get();
  for (const Binding *b : attribute_lines_known())
    if (is_callback(b))
      return b;
  return nullptr;
}

/* Two lines where one with `|' was meant: all waiting of these futures would be queueing. Said
   once, where some call is meant. */
static void warn_apart(CallWork *w, const Binding *b) {
  static std::unordered_set<const Binding *> known;
  if (b->verb != Verb::Create || b->ready || b->then_run || !b->key.first ||
      !known.insert(b).second)
    return;
  const Binding *run = callback_run(*b);
  if (!run || run->behind)
    return;
  location_t where = binding_location(*b, w->frame.subject);
  if (warning_at(where != UNKNOWN_LOCATION ? where : w->frame.where, 0,
                 "these futures are queued until they run, as if they could do so at once: what "
                 "waits to be "
                 "called has its run on the same line, behind %<|%>; %<ready%> says that "
                 "queued is meant"))
    inform(binding_location(*run, NULL_TREE), "their run is this line: %qs", run->text.c_str());
}

void say_line(CallWork *w, const Binding *b) {
  warn_apart(w, b);
  coverage_match(*b);
  if (b->verb == Verb::Await)
    coverage_await(w->frame.where, w->callee, w->in.decl, w->in.is_body || w->in.has_block);
  if (b->verb == Verb::Span)
    coverage_span(w->frame.where, w->callee);
  if (settings.verbose)
    inform(w->frame.where, "aprof: call of %qs: %qs (%s)", w->callee.c_str(), b->text.c_str(),
           binding_origin(*b).c_str());
  if (settings.verbose && b->run_of_functions() && !run_has_bodies(b->run_of_functions()))
    inform(w->frame.where, "aprof: its %<| run%> reaches no function of this unit");
  if (settings.verbose)
    say_queued(w, b);
}

} // namespace aprof
