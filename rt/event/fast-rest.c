/* SPDX-License-Identifier: MIT */
/*
 * The fast events of futures that do not run: woken, due, ended from outside. See fast.c for why,
 * and outside.c and create.c for what they do. What was woken is run by one of these, too.
 */
#include "begin.h"
#include "fast-key.h"
#include "rt/count/miss.h"

/* The future of a key that the first place does not tell. NULL: several may be meant; or none has
   the key, a miss with which the event is over. */
APART struct aprof_future *find_sought(const struct aprof_site *site, uint64_t key0, uint64_t key1,
                                       struct aprof_token *token, enum aprof_miss miss,
                                       bool *over) {
  struct aprof_future *f = key_find(key0, key1, site->ns);
  bool any = site->ns == APROF_NS_ANY;
  *over = f == NULL && (any || site_known(site));
  if (*over) {
    if (!any)
      event_missed(aprof_self, miss, site->id);
    finish(block_here());
  }
  token->word[0] = f != NULL ? key_id(f, key0, key1) : 0;
  return token->word[0] != 0 && !any && !(site->flags & APROF_TUPLE) ? f : NULL;
}

/* -- wake -------------------------------------------------------------------- */

/* f is put aside for nothing that it called itself, but for what has a key of its own: who wakes f
   means no other. To be asked also where f was woken already: what f calls takes that over, but not
   of a thread that has just seen f run. */
ALWAYS bool fast_aside_itself(const struct aprof_future *f) {
  uint32_t callee = f->callee & ~CALLEE_MINE;
  return callee >= CALLEE_NO_FUTURE || record_at(callee)->ns != NS_FRAME;
}

/* The end of an event that woke what does not wait: it runs, or is queued, or put aside. Most often
   others have woken it already, as the threads of a pool do: its line stays theirs then. */
APART void wake_early(const struct aprof_site *site, struct aprof_future *f,
                      struct aprof_block *b) {
  uint64_t none = 0;
  if (relaxed(&f->wake_tick) == 0 &&
      (f->state == APROF_FUTURE_RUNNING || f->state == APROF_FUTURE_ASIDE) &&
      swapped(&f->wake_tick, &none, site->id, RELAXED) && NOTES)
    note(aprof_self, APROF_TRACE_WAKE, f, 0, event_time(aprof_self));
  finish(b);
}

/* Odd: nobody stands at the key's first place. */
ALWAYS void fast_wake(struct thread *t, struct aprof_block *b, struct aprof_site *site,
                      uint64_t key0, uint64_t key1, uint32_t clock, wake_event *other, bool odd) {
  struct aprof_token token;
  bool over = false;
  struct aprof_future *f = odd ? find_sought(site, key0, key1, &token, APROF_MISS_WAKE, &over)
                               : fast_find(site, key0, key1, &token);
  if (over)
    return;
  if (!odd && unlikely(f == NULL)) {
    other(site, key0, key1);
    return;
  }
  if (unlikely(f == NULL) || !fast_site(site) || unlikely(!token_current(t, token.word[0])))
    goto undo;
  if (unlikely(f->state == APROF_FUTURE_ASIDE) && !fast_aside_itself(f) &&
      (f = top_known(t, f)) == NULL)
    goto undo;
  if (unlikely(f->state != APROF_FUTURE_WAITING)) {
    if (f->state == APROF_FUTURE_TENTATIVE)
      goto undo;
    wake_early(site, f, b);
    return;
  }
  uint64_t now = fast_clock(clock), seen = relaxed(&f->wake_tick);
  if (either_backwards(now - b->last, now - f->last))
    goto undo;
  if ((seen == 0 || seen > now) && likely(swapped(&f->wake_tick, &seen, now ? now : 1, RELAXED))) {
    __atomic_store_n(&f->wake_site, site->id, __ATOMIC_RELAXED);
    note(t, APROF_TRACE_WAKE, f, 0, now);
  }
  finish(b);
  return;
undo:
  wake_undone(t, site, key0, key1);
}

/* -- end --------------------------------------------------------------------- */

/* From here on no other thread can begin to run f, which is this thread's and at rest. */
ALWAYS bool fast_hold(struct thread *t, struct aprof_future *f, const struct aprof_token *token) {
  uint32_t lease = t->lease;
  if (likely(!threads_share()))
    return true;
  t->held = f;
  t->held_lease = lease;
  if (!swapped(&f->lease, &lease, 0, SEQ_CST))
    return false;
  if (likely(f->id == token->word[0]) && likely(f->open == 0))
    return true;
  future_unhold(t);
  return false;
}

BETWEEN SLOW void waited_long(struct thread *t, struct aprof_future *f, uint64_t end) {
  close_wait(t, f, end, false);
}

/* What runs here is meant: it is over when its bracket closes (fast_run_closes), and no key finds
   it from here on. False: it is not, or is odd. */
APART bool end_running(struct aprof_site *site, uint64_t key0, uint64_t key1, int how) {
  struct thread *t = aprof_self;
  struct aprof_future *f = t->cur;
  uint32_t odd = APROF_POLLING | APROF_TUPLE | APROF_WORKER | APROF_NORETURN;
  uint8_t none = 0;
  if (t->block->state != APROF_THREAD_RUNNING || !fast_site(site) || (site->flags & odd) ||
      how > APROF_CANCELLED || f->lease != t->lease || f->open == 0 || f->ns != site->ns ||
      key_id(f, key0, key1) == 0 || !token_current(t, f->id) ||
      key_find(key0, key1, site->ns) != f ||
      !swapped(&f->ending, &none, (uint8_t)(1 + how), SEQ_CST))
    return false;
  key_remove(f);
  finish(t->block);
  return true;
}

/* Where that is odd, as of a part of a request, or nobody stands at the key's first place, `member`
   goes on, inside the event, for which it is NULL. By hand: made of its row (fast.h), GCC has it in
   other registers, and a request in two lines more of code. */
ALWAYS void fast_end(struct aprof_site *site, uint64_t key0, uint64_t key1, int how, uint32_t clock,
                     end_event *member) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  struct aprof_token token;
  if (member != NULL && !begin(t, b))
    goto slow;
  struct aprof_future *f = fast_find(site, key0, key1, &token);
  if (unlikely(f == NULL) && member != NULL) {
    member(site, key0, key1, how);
    return;
  }
  if (unlikely(f == NULL)) {
    bool over;
    f = find_sought(site, key0, key1, &token, APROF_MISS_END, &over);
    if (over)
      return;
    if (f == NULL)
      goto undo;
  }
  if (!fast_site(site) || unlikely(site->flags & APROF_NORETURN) ||
      unlikely(f->lease != t->lease) || /* open, or asked to end */
      unlikely(fast_word(f) & ((member != NULL ? APROF_F_MEMBER : 0) << 8 | 0xffffu << 16)) ||
      unlikely(f->polled != 0))
    goto undo;
  struct aprof_counters *a = NULL, *c = fast_known(f);
  bool apart = false;
  if (f->state == APROF_FUTURE_WAITING) {
    a = c;
    c = (struct aprof_counters *)(uintptr_t)a->await.function;
    apart = member == NULL && a->await.apart > 1;
  } else if (unlikely(f->state != APROF_FUTURE_QUEUED) || fast_delayed(t, f)) {
    goto undo;
  }
  uint32_t index = index_of(f);
  uint64_t *place = NULL;
  if (member != NULL
          ? unlikely((place = fast_may_end(t, f, index)) == NULL)
          : unlikely(t->free_count >= FREE_ENOUGH) || unlikely(!(f->flags & APROF_F_KEYED)))
    goto undo;
  if (unlikely(how > APROF_CANCELLED))
    goto undo;
  uint64_t now = fast_clock(clock), passed = now - f->last, wall = now - f->created_tick;
  if (either_backwards(now - b->last, passed) ||
      !(apart       ? fast_apart_ends(f, a, passed)
        : a != NULL ? fast_rest_ends(f, a, passed, clock)
                    : fast_within(&c->function.queued_limit, passed, clock)) ||
      !fast_within(&c->function.ended_limit, wall, clock) || !fast_hold(t, f, &token) ||
      !fast_claim(f, &token))
    goto undo;
  if (apart)
    fast_apart_over(f, now);
  future_ending(b, f, t->lease, c, how);
  fast_close_rest(t, f, a, c, now, passed, clock);
  if (member == NULL) {
    fast_ends(t, f, index, c, how, false, wall, now, clock);
    finish_member(t, b);
    return;
  }
  note_index(t, APROF_TRACE_DONE + (unsigned)how, index, f->node, now);
  fast_over(t, c, f, index, place, how, wall, clock);
  finish(b);
  return;
undo:
  if (member != NULL) {
    member(site, key0, key1, how);
    return;
  }
  if (end_running(site, key0, key1, how))
    return;
  unbegin(t);
slow:
  GENERAL(end)(site, key0, key1, how);
}

/* -- what was woken runs, or was taken ------------------------------------------ */

/* Another thread has ended the future that was found; its record may have another key by now. */
static SLOW void run_missed(struct aprof_site *site, struct aprof_token *token) {
  token->word[0] = 0;
  struct thread *t = aprof_self;
  unbegin(t);
  if ((t = event_begin()) == NULL)
    return;
  event_missed(t, APROF_MISS_RUN, site_id(site));
  event_end(t);
}

/* `equal`: it is one of equal ones, which another thread may run once it is given back. */
ALWAYS void fast_run_undone(struct aprof_site *site, struct aprof_token *token,
                            struct aprof_future *f, struct aprof_site *function, const void *self,
                            bool equal) {
  uint64_t key0 = relaxed(&f->key0), key1 = relaxed(&f->key1); /* no register was kept for them */
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (unlikely(relaxed(&f->id) != token->word[0])) {
    run_missed(site, token);
    return;
  }
  if (equal)
    run_given_back(f, token->word[0]);
  token->word[0] = 0;
  run_begin_undone(aprof_self, site, token, key0, key1, function, self); /* a handler may end f */
}

RUN_FOUND(, run_undone, fast_run_undone, false)
RUN_FOUND(, run_undone_taken, fast_run_undone, (site->flags & APROF_TUPLE) != 0)

void run_none(struct aprof_site *site, struct aprof_token *token, uint64_t key0, uint64_t key1,
              struct aprof_site *function, const void *self) {
  struct thread *t = aprof_self;
  token->word[0] = 0;
  if (run_changes_nothing(t, site, key0, key1, function))
    finish(t->block);
  else
    run_begin_undone(t, site, token, key0, key1, function, self);
}

/* Another thread had it last: this one takes it. Or its wait ends in an event apart: `apart` goes
 * on. Any other future goes on in the general event. */
ALWAYS void fast_run_moved(struct aprof_site *site, struct aprof_token *token,
                           struct aprof_future *f, struct aprof_site *function, const void *self,
                           run_found *taken, run_found *apart) {
  struct thread *t = aprof_self;
  if (f->lease == t->lease && f->state == APROF_FUTURE_WAITING && fast_known(f)->await.apart > 1) {
    apart(site, token, f, function, self);
    return;
  }
  if (f->lease == t->lease || !token_current(t, token->word[0]) || !run_may_begin(f) ||
      ((site->flags & APROF_OWN) && !fast_own(f, site, function)) ||
      !run_takes(t, f, token->word[0], false)) {
    run_undone(site, token, f, function, self);
    return;
  }
  taken(site, token, f, function, self);
}

/* The await in which f, which was created without a name, waits beneath the function that this body
   tells: *named. NULL: not known here. */
ALWAYS struct aprof_counters *fast_name_waiting(struct thread *t, const struct aprof_future *f,
                                                struct aprof_site *function,
                                                const struct node_entry **named) {
  if (!(f->flags & APROF_F_NAMELESS) ||
      (*named = fast_node_of(t, node_parent(f->node), function, false, true)) == NULL)
    return NULL;
  struct aprof_site *await = number_as_site(node_site(f->await), APROF_NODE_AWAIT);
  const struct node_entry *e = fast_node_of(t, (*named)->node, await, true, true);
  return e != NULL && e->counters->await.function == (uintptr_t)(*named)->counters ? e->counters
                                                                                   : NULL;
}

/* Nothing runs here, and the future waits, but was woken or due: for the rest of its wait it was
   queued. If its function has to be looked at, `other` goes on, for which `other` is NULL. `apart`:
   it is a wait that ends in events apart; of what was taken it is asked here. */
ALWAYS void fast_run_woken(struct aprof_site *site, struct aprof_token *token,
                           struct aprof_future *f, struct aprof_site *function, const void *self,
                           uint32_t clock, bool taken, bool apart, run_found *other,
                           run_found *undone) {
  struct thread *t = aprof_self;
  struct aprof_block *b = block_here();
  struct aprof_counters *a = fast_counted(t, f, true, taken);
  if (taken && (a == NULL || unlikely(f->state != APROF_FUTURE_WAITING)))
    goto undo;
  if (taken)
    apart = a->await.apart > 1;
  if (other != NULL && !fast_plainly_own(a, function)) {
    other(site, token, f, function, self);
    return;
  }
  const struct node_entry *named = NULL;
  if (!fast_runnable(t, f) || (other == NULL && !fast_named(f, site, function) &&
                               (a = fast_name_waiting(t, f, function, &named)) == NULL))
    goto undo;
  struct aprof_counters *c = (struct aprof_counters *)(uintptr_t)a->await.function;
  uint64_t now = fast_clock(clock), rested = now - b->last, passed = now - f->last;
  if (backwards(rested | passed) ||
      !(apart ? fast_apart_ends(f, a, passed) : fast_rest_ends(f, a, passed, clock)))
    goto undo;
  b->other += rested;
  if (named != NULL) {
    f->await = a->await.node;
    note_named(t, f, named->node);
    fast_rename(f, named->node);
  }
  if (other == NULL)
    fast_owns(a, f, function);
  if (apart && f->wake_tick == 0) /* else waited_long tells that */
    fast_apart_over(f, now);
  fast_close_rest(t, f, a, c, now, passed, clock);
  fast_goes_on(f);
  fast_run_begins(t, site, token, f, c, function, now, a->await.site, taken);
  if (apart && node_begins_request(a->await.node)) {
    member_goes_on(t, f, now);
    finish_member(t, b);
    return;
  }
  finish(b);
  return;
undo:
  undone(site, token, f, function, self);
}

/* -- create brackets ----------------------------------------------------------- */

static void due_any(struct aprof_token *token, uint64_t ns) {
  struct thread *t = aprof_self;
  uint64_t id = token->word[0];
  if (likely(id != 0) && likely(t->tentative_id == id) && begin(t, block_here())) {
    struct aprof_future *f = t->tentative;
    if (likely(t->tentative_id == id) && likely(f->id == id) &&
        likely(f->state == APROF_FUTURE_TENTATIVE)) {
      future_due(f, ns);
      finish(t->block);
      return;
    }
    unbegin(t);
  }
  GENERAL(due)(token, ns);
}

/* -- one set per clock --------------------------------------------------------- */
#define SET(name, clock)                                                                           \
  RUN_FOUND(APART, run_queued_taken_##name, fast_run_queued, clock, true, NULL, NULL,              \
            run_undone_taken)                                                                      \
  void run_taken_##name(struct aprof_site *site, struct aprof_token *token,                        \
                        struct aprof_future *f, struct aprof_site *function, const void *self) {   \
    if (f->state == APROF_FUTURE_QUEUED)                                                           \
      run_queued_taken_##name(site, token, f, function, self);                                     \
    else                                                                                           \
      fast_run_woken(site, token, f, function, self, clock, true, false, NULL, run_undone_taken);  \
  }                                                                                                \
  RUN_FOUND(APART, run_apart_##name, fast_run_woken, clock, false, true, NULL, run_undone)         \
  RUN_FOUND(, run_moved_##name, fast_run_moved, run_taken_##name, run_apart_##name)                \
  RUN_FOUND(APART, run_other_##name, fast_run_woken, clock, false, false, NULL, run_moved_##name)  \
  RUN_FOUND(, run_woken_##name, fast_run_woken, clock, false, false, run_other_##name,             \
            run_moved_##name)                                                                      \
  static SLOW wake_event wake_odd_##name;                                                          \
  APROF_GATE_wake(BOTH, name) APART void end_member_##name(struct aprof_site *site, uint64_t key0, \
                                                           uint64_t key1, int how) {               \
    fast_end(site, key0, key1, how, clock, NULL);                                                  \
  }                                                                                                \
  static void end_##name(struct aprof_site *site, uint64_t key0, uint64_t key1, int how) {         \
    fast_end(site, key0, key1, how, clock, end_member_##name);                                     \
  }

#define GOVERNED(clock) APROF_GATE_wake(CHOOSE, clock) APROF_GATE_end(CHOOSE, clock)

#include "fast-sets.h"

void fast_rest(struct aprof_gate *gate, uint32_t clock) {
  gate->due = due_any;
  gate->wake = FOR_CLOCK(clock, wake);
  gate->end = FOR_CLOCK(clock, end);
}
