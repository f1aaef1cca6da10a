/* SPDX-License-Identifier: MIT */
/*
 * From keys to futures: open addressing over words of (hash, record), in segments
 * of a directory.
 *
 * The hash is of the address alone, so that any: finds every namespace; key,
 * namespace and life are checked in the record, so a stale word does no harm.
 * Futures of one tuple, which may live side by side in any number, have a word each; from
 * RING_FROM on they go round in a ring, if there is one for them. What finds no place there has a
 * word, too, and from EQUAL_WORDS on stands in a queue behind one word.
 * Locking: look-ups and removals take none, inserts one compare and swap; who takes one of equal
 * keys has `taking`, a spin lock that is held inside an event only, by its number; queues are
 * touched under rt.lock. A full segment is replaced under that, too: by an emptier one, or by two,
 * whose look-ups go on in the old one until its words are copied.
 */
#include "key.h"

#include "grace.h"
#include "key-queue.h"
#include "key-ring.h"
#include "key-segments.h"
#include "rt/sys/confine.h"
#include "rt/sys/lock.h"
#include "rt/sys/wait.h"

#define QUEUE 0x80000000u /* in a word: it leads to a queue, no future has such an index */
#define RING_FROM 4u      /* words of one key: each look at one looks at all */
#define EQUAL_WORDS 96u   /* ... where there is no ring */

static struct key_segment nothing = {.used = KEY_WORDS}; /* full: the first insert replaces it */
/* Words of queues, by some bits of their hashes; written under rt.lock. */
static uint32_t queues[256];

/* The thread that takes one of equal keys: its block's number and its event; 0: none. */
static uint64_t taking;
#define TAKING_EVENT 48             /* bits of a block's sequence */
#define TAKING_TRIES (200u * 10000) /* looks at a thread that stands still: a second at least */
#define TAKES 8u                    /* what was found may be over, again and again */

static struct directory root = {.shift = 32, .segment = {&nothing}};

struct directory *key_directory = &root;

void key_reset(void) {
  key_directory = &root;
  memset(queues, 0, sizeof queues);
  taking = 0;
  queues_reset();
  rings_reset();
  key_segments_reset();
}

static struct key_segment *segment_at(uint32_t hash) {
  return directory_at(&key_directory, hash);
}

static uint32_t *queues_of(uint32_t hash) {
  return &queues[hash % 256];
}

static bool is_tomb(uint64_t word) {
  return (uint32_t)word == KEY_TOMB;
}

/* The next word of this hash, from *at places behind a key's first one on; *at is one place behind
   it then. 0: there is none. */
static inline uint64_t next_word(const struct key_segment *segment, uint32_t hash, uint32_t *at) {
  while (*at < KEY_WORDS) {
    uint64_t word = __atomic_load_n(&segment->word[(hash + (*at)++) % KEY_WORDS], __ATOMIC_ACQUIRE);
    if (word == 0)
      break;
    if (word >> 32 == hash && !is_tomb(word))
      return word;
  }
  return 0;
}

static struct queue *queue_at(uint64_t word) {
  return &cell_at((uint32_t)word & ~QUEUE)->queue;
}

/*
 * Reads a record that another thread may be filling. The answer counts only where all of the record
 * is that of the caller's key: then the program itself has ordered the create before this event.
 * Whatever else is read stale makes the look-up pass on. Who takes one of several equal ones that
 * are at rest has `taking`, if there are other threads.
 */
HINT static bool is_key(const struct aprof_future *f, const struct key_search *s) {
  return f->key0 == s->key0 && f->key1 == s->key1 && (f->flags & APROF_F_KEYED) && f->id != 0 &&
         (f->ns == s->ns || s->ns == APROF_NS_ANY) &&
         (uint16_t)(f->id >> 48) == (uint16_t)rt.header->epoch;
}

/* -- look-up ------------------------------------------------------------------------- */

/* No bracket holds it. If it runs all the same, one is just being closed. */
HINT static bool is_free(const struct aprof_future *f) {
  return __atomic_load_n(&f->open, __ATOMIC_ACQUIRE) == 0 &&
         __atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != APROF_FUTURE_RUNNING;
}

/* Of one that another thread may be filling: then it is not the one. */
HINT static uint64_t birth_of(const struct aprof_future *f) {
  return __atomic_load_n(&f->created_tick, __ATOMIC_RELAXED);
}

/* A bracket of that thread holds it, and no other one has just taken it. */
HINT static bool is_leased(const struct aprof_future *f, const struct key_search *s) {
  if (s->lease == 0 || __atomic_load_n(&f->lease, __ATOMIC_RELAXED) != s->lease)
    return false;
  uint8_t state = __atomic_load_n(&f->state, __ATOMIC_RELAXED);
  return state == APROF_FUTURE_RUNNING || state == APROF_FUTURE_ASIDE || !threads_share();
}

HINT static uint32_t number_of(const struct aprof_future *f) {
  return (uint32_t)__atomic_load_n(&f->id, __ATOMIC_RELAXED);
}

/* One that may have the key. True: it is the one. */
static bool consider(struct key_search *s, struct aprof_future *f) {
  if (!is_key(f, s))
    return false;
  if (s->after != NULL) {
    if (s->after == f)
      s->after = NULL;
    return false;
  }
  if (!s->oldest) {
    s->found = f;
    return true;
  }
  if ((s->free && !is_free(f) && !is_leased(f, s)) || !is_key(f, s))
    return false; /* or it has just been: a thread that lets it go takes its key first */
  if (s->found == NULL || birth_of(f) < birth_of(s->found) ||
      (birth_of(f) == birth_of(s->found) && number_of(f) < number_of(s->found)))
    s->found = f;
  return false;
}

/* The first that is at rest will do: they stand in the order of their creation. */
static bool consider_from(struct key_search *s, uint32_t cell, uint32_t from) {
  for (; cell != 0; cell = cell_at(cell)->entries.next, from = 0) {
    const struct entries *e = &cell_at(cell)->entries;
    for (uint32_t i = from > e->from ? from : e->from; i < e->until; i++) {
      struct aprof_future *f = entered(e->entry[i]);
      if (f != NULL && consider(s, f)) {
        s->cell = cell;
        s->place = i;
        s->entry = e->entry[i];
        return true;
      }
      if (s->found != NULL && s->found == f)
        return false;
    }
  }
  return false;
}

/* True: it is over. Of the ring, the first that is at rest will do, too. */
static bool consider_ring(struct key_search *s) {
  const struct ring *r = ring_for(s->hash);
  uint64_t state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0, count = ring_count(state, s->hash); i < count; i++) {
    struct aprof_future *f = ring_future(r, state, i);
    if (f != NULL && (consider(s, f) || s->found != NULL))
      return true;
  }
  return false;
}

/* True: the search is over. What has a word is older than what goes round in the ring, and that is
   older than what stands in a queue. */
static bool search_segment(struct key_search *s, const struct key_segment *segment) {
  uint64_t word;
  for (uint32_t at = 0; (word = next_word(segment, s->hash, &at)) != 0;) {
    struct aprof_future *f = future_at((uint32_t)word);
    if (word & QUEUE)
      s->queued = true;
    else if (s->found != NULL && birth_of(f) > birth_of(s->found))
      ; /* the oldest is wanted: most of many are left out */
    else if (consider(s, f))
      return true;
  }
  return false;
}

/* Behind the one that was found in a queue, if that still stands where it did. NULL: it does
   not, or was the last there. */
static SLOW struct aprof_future *search_on(struct key_search *s) {
  s->found = s->after = NULL;
  rt_lock();
  const struct entries *e = &cell_at(s->cell)->entries;
  bool stands = s->place >= e->from && s->place < e->until && e->until <= ENTRIES &&
                e->entry[s->place] == s->entry;
  if (!stands || !consider_from(s, s->cell, s->place + 1))
    s->cell = 0;
  rt_unlock();
  return s->found;
}

/* The queues of this hash. rt.lock held: no segment is being replaced. */
static void search_queues(struct key_search *s, const struct key_segment *segment) {
  uint64_t word;
  for (uint32_t at = 0; s->found == NULL && (word = next_word(segment, s->hash, &at)) != 0;)
    if (word & QUEUE)
      consider_from(s, queue_at(word)->first, 0);
}

static SLOW void search_locked(struct key_search *s) {
  rt_lock();
  const struct key_segment *segment = segment_at(s->hash);
  if (!search_segment(s, segment) && s->found == NULL && !consider_ring(s))
    search_queues(s, segment);
  rt_unlock();
}

struct aprof_future *key_search(struct key_search *s) {
  struct aprof_future *after = s->after;
  for (;;) {
    struct key_segment *segment = segment_at(s->hash);
    struct key_segment *older = __atomic_load_n(&segment->older, __ATOMIC_ACQUIRE);
    bool over = search_segment(s, segment) || (older != NULL && search_segment(s, older)) ||
                (s->found == NULL && consider_ring(s));
    if (unlikely(s->queued && s->found == NULL)) {
      s->after = after;
      search_locked(s);
      return s->found;
    }
    if (likely(over || (segment_at(s->hash) == segment &&
                        __atomic_load_n(&segment->older, __ATOMIC_ACQUIRE) == older)))
      return s->found;
    s->after = after; /* it was replaced in the midst */
    s->found = NULL;
  }
}

struct aprof_future *key_next(struct key_search *s, struct aprof_future *after) {
  struct aprof_future *f = s->cell != 0 ? search_on(s) : NULL;
  if (unlikely(f != NULL))
    return f;
  /* Most often it stands at the key's first place. */
  uint64_t word =
      __atomic_load_n(&segment_at(s->hash)->word[s->hash % KEY_WORDS], __ATOMIC_ACQUIRE);
  f = future_at((uint32_t)word);
  if (after == NULL && word >> 32 == s->hash && (int32_t)word > (int32_t)KEY_TOMB && is_key(f, s))
    return f; /* no queue's word */
  s->after = after;
  s->found = NULL;
  s->queued = false;
  f = key_search(s);
  return likely(f != after) ? f : NULL; /* twice there: see put */
}

/* Whoever has `taking` has left the event in which it took it: by a jump out of a handler. */
static bool taking_left(uint64_t seen) {
  return (thread_sequence((uint32_t)(seen >> TAKING_EVENT)) ^ seen) << (64 - TAKING_EVENT) != 0;
}

/* Two threads that look for one at rest must not find the same, nor one of them none. Who has only
   lost its processor is waited for; who makes no event any more, behind such a jump, once. */
static uint64_t taking_begin(const struct thread *t) {
  uint64_t last = 0, mine = (uint64_t)t->index << TAKING_EVENT |
                            t->block->sequence << (64 - TAKING_EVENT) >> (64 - TAKING_EVENT);
  for (unsigned tries = 0;; tries++) {
    uint64_t seen = __atomic_load_n(&taking, __ATOMIC_ACQUIRE);
    tries = seen == last ? tries : 0;
    last = seen;
    if ((seen == 0 || taking_left(seen) || tries >= TAKING_TRIES) &&
        swapped(&taking, &seen, mine, ACQ_REL))
      return mine;
    wait_for_other(tries, was_confined_lately());
  }
}

static void taking_end(uint64_t mine) {
  swapped(&taking, &mine, 0, RELEASE);
}

/* It may have been ended since it was found, and its record be another future's: one that has no
   key yet opens it anew when it gets one. */
static bool open_free(struct aprof_future *f, const struct key_search *s) {
  uint8_t none = 0, one = 1;
  if (!swapped(&f->open, &none, 1, ACQ_REL))
    return false;
  if (likely(is_key(f, s)))
    return true;
  if (f->id != 0 && (f->flags & APROF_F_KEYED))
    swapped(&f->open, &one, 0, RELEASE);
  return false;
}

/* At rest, where there is nothing to choose from: whoever has the only word of this hash; or where
   none has one, the first in the ring. Else NULL. */
static struct aprof_future *the_first(struct key_search *s) {
  const struct key_segment *segment = segment_at(s->hash);
  if (__atomic_load_n(&segment->older, __ATOMIC_ACQUIRE) != NULL)
    return NULL;
  uint32_t at = 0;
  uint64_t only = next_word(segment, s->hash, &at);
  if ((only & QUEUE) || (only != 0 && next_word(segment, s->hash, &at) != 0) ||
      unlikely(segment_at(s->hash) != segment))
    return NULL;
  if (only == 0)
    return consider_ring(s) ? s->found : NULL;
  consider(s, future_at((uint32_t)only));
  return ring_holds(s->hash) ? NULL : s->found;
}

struct aprof_future *key_take(const struct thread *t, struct key_search *wanted,
                              struct aprof_future *rather, bool *taken) {
  bool shared = threads_share();
  wanted->found = NULL;
  wanted->oldest = wanted->free = true;
  /* Whoever has the lock is not to lose what it finds to those that need none. */
  bool chosen = rather != NULL || __atomic_load_n(&taking, __ATOMIC_RELAXED) != 0;
  struct aprof_future *first = chosen ? NULL : the_first(wanted);
  *taken = first != NULL && open_free(first, wanted);
  if (likely(*taken)) {
    ordered_taken(first);
    return first;
  }
  for (unsigned i = 0; i < TAKES; i++) {
    struct key_search s = *wanted;
    uint64_t mine = shared ? taking_begin(t) : 0;
    s.found = NULL;
    if (unlikely(rather != NULL) && is_free(rather) && is_key(rather, &s))
      s.found = rather;
    else
      key_search(&s);
    *taken = s.found != NULL && open_free(s.found, &s);
    if (shared)
      taking_end(mine);
    if (s.found == NULL)
      break;
    if (likely(*taken) || is_leased(s.found, &s)) {
      ordered_taken(s.found);
      return s.found;
    }
  }
  return key_find(wanted->key0, wanted->key1, wanted->ns);
}

/* -- insertion ------------------------------------------------------------------------- */

/* All of its record is written. */
static void is_found_from_here(struct aprof_future *f) {
  f->flags |= APROF_F_KEYED;
  ordered_given(f);
}

/* Puts the word at the first free place of its key, unless it is there: while a segment is
   replaced, both the thread that inserts and the one that replaces may have to do this. */
static void put(struct key_segment *segment, uint64_t word) {
  for (uint32_t slot = (uint32_t)(word >> 32) % KEY_WORDS;; slot = (slot + 1) % KEY_WORDS) {
    uint64_t seen = __atomic_load_n(&segment->word[slot], __ATOMIC_RELAXED);
    while (seen == 0 || is_tomb(seen)) {
      if (!swapped(&segment->word[slot], &seen, word, SEQ_CST))
        continue;
      if (seen == 0)
        __atomic_fetch_add(&segment->used, 1, __ATOMIC_RELAXED);
      return;
    }
    if (seen == word)
      return;
  }
}

/* False: it is full. */
static bool insert_in(struct key_segment *segment, uint64_t word) {
  if (__atomic_load_n(&segment->used, __ATOMIC_RELAXED) > KEY_ENOUGH)
    return false;
  put(segment, word);
  return true;
}

static uint32_t living(const struct key_segment *segment) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < KEY_WORDS; i++) {
    uint64_t word = __atomic_load_n(&segment->word[i], __ATOMIC_RELAXED);
    count += word != 0 && !is_tomb(word);
  }
  return count;
}

/* Words know their hashes: no record is looked at. */
static void copy_words(struct key_segment *from, struct key_segment *low, struct key_segment *high,
                       uint32_t depth) {
  for (uint32_t i = 0; i < KEY_WORDS; i++) {
    uint64_t word = __atomic_load_n(&from->word[i], __ATOMIC_SEQ_CST);
    if (word != 0 && !is_tomb(word))
      put(word << depth >> 63 ? high : low, word);
  }
}

uint64_t *key_vacancy(uint32_t hash, struct key_segment **segment, uint64_t *seen) {
  struct key_segment *of = *segment = segment_at(hash);
  uint64_t *vacant = NULL, word = 1;
  if (__atomic_load_n(&of->older, __ATOMIC_ACQUIRE) != NULL || ring_holds(hash))
    return NULL;
  for (uint32_t i = 0; i < KEY_WORDS && word != 0; i++) {
    uint64_t *place = &of->word[(hash + i) % KEY_WORDS];
    word = __atomic_load_n(place, __ATOMIC_RELAXED);
    bool free = word == 0 || is_tomb(word);
    if (!free && word >> 32 == hash)
      return NULL;
    if (free && vacant == NULL) {
      vacant = place;
      *seen = word;
    }
  }
  bool room = __atomic_load_n(&of->used, __ATOMIC_RELAXED) < KEY_ENOUGH;
  return word == 0 && (*seen != 0 || room) ? vacant : NULL;
}

/* No memory for another one: what was kept free is filled, too. False: it is full. */
static bool spares_nothing(struct key_segment *full) {
  uint32_t spared = full->spared;
  full->spared = 0;
  __atomic_fetch_sub(&full->used, spared, __ATOMIC_RELAXED);
  return spared != 0;
}

/* New segments for a full one, which is of this hash. False: no memory. rt.lock held. */
static bool replace_locked(struct key_segment *full, uint32_t hash) {
  uint32_t depth = full->depth, count = living(full), room = KEY_ENOUGH - key_spared(depth);
  /* With fewer, it is full of tombs. */
  bool split = count >= room / 2 && directory_reach(&key_directory, depth + 1);
  if (!split && count > room - KEY_WORDS / 8)
    return spares_nothing(full); /* another one would be full, too */
  if (key_directory == &root) {  /* this one is of no profile */
    struct directory *first = NULL;
    if (!directory_first(&first))
      return false;
    first->segment[0] = full;
    __atomic_store_n(&key_directory, first, __ATOMIC_SEQ_CST);
  }
  struct key_segment *low = key_segment_new(depth + split), *high = low;
  if (split && low != NULL && (high = key_segment_new(depth + 1)) == NULL)
    key_segment_retire(low);
  if (high == NULL)
    return spares_nothing(full);
  __atomic_store_n(&low->older, full, __ATOMIC_RELAXED);
  __atomic_store_n(&high->older, full, __ATOMIC_RELAXED);
  __atomic_store_n(&full->replaced, 1, __ATOMIC_SEQ_CST); /* before a word is looked at */
  directory_replace(key_directory, hash, depth, low, high);
  copy_words(full, low, high, depth);
  __atomic_store_n(&low->older, NULL, __ATOMIC_RELEASE);
  __atomic_store_n(&high->older, NULL, __ATOMIC_RELEASE);
  if (full != &nothing)
    key_segment_retire(full);
  return true;
}

/* ... unless another thread was faster. */
static SLOW bool replace(struct key_segment *full, uint32_t hash) {
  rt_lock();
  bool ok = segment_at(hash) != full || replace_locked(full, hash);
  rt_unlock();
  return ok;
}

/* `locked`: rt.lock is held. */
static bool put_anywhere(uint64_t word, bool locked) {
  uint32_t hash = (uint32_t)(word >> 32);
  for (;;) {
    struct key_segment *segment = segment_at(hash);
    if (!insert_in(segment, word)) {
      if (!(locked ? replace_locked(segment, hash) : replace(segment, hash)))
        return false;
    } else if (likely(segment == segment_at(hash))) {
      return true; /* else it may have been copied before our word was there */
    }
  }
}

bool key_put(uint64_t word) {
  return put_anywhere(word, false);
}

bool key_insert(struct aprof_future *f) {
  uint32_t hash = key_hash(f->key0, f->key1);
  is_found_from_here(f);
  bool put = key_put((uint64_t)hash << 32 | index_of(f));
  if (!put)
    f->flags &= (uint8_t)~APROF_F_KEYED;
  return put;
}

/* It was the first of its key, so it has left a queue; in a ring others may stand before it, of
   another namespace. Its entry there must not live again: who has seen that it does not may be
   about to drop it. */
bool key_insert_again(struct aprof_future *f) {
  ring_forget(key_hash(f->key0, f->key1), f);
  return key_insert(f);
}

/* Behind the queue's word of this key, if it has one. rt.lock held. */
static struct queue *queue_of(const struct key_segment *segment, struct key_search *s) {
  uint64_t word;
  for (uint32_t at = 0; (word = next_word(segment, s->hash, &at)) != 0;)
    if ((word & QUEUE) && consider_from(s, queue_at(word)->first, 0))
      return queue_at(word);
  return NULL;
}

/* A queue of its own for f and those that follow. rt.lock held. */
static bool queue_begin(const struct aprof_future *f, uint32_t hash) {
  uint32_t cell = cell_new();
  if (cell == 0)
    return false;
  struct queue *q = &cell_at(cell)->queue;
  if (queue_append(q, entry_of(f)) && put_anywhere((uint64_t)hash << 32 | QUEUE | cell, true)) {
    __atomic_fetch_add(queues_of(hash), 1, __ATOMIC_RELAXED);
    return true;
  }
  if (q->first != 0)
    cell_free(q->first);
  cell_free(cell);
  return false;
}

/* Are there so many words of this hash? Each went to the first place that was free, so nearly all
   stand before the one that is the first now. */
static bool is_crowded(const struct key_segment *segment, uint32_t hash, uint32_t most) {
  uint32_t count = 0;
  for (uint32_t i = 0, slot = hash % KEY_WORDS; i < KEY_WORDS; i++, slot++) {
    uint64_t word = __atomic_load_n(&segment->word[slot % KEY_WORDS], __ATOMIC_RELAXED);
    if (word == 0 || is_tomb(word))
      break;
    count += word >> 32 == hash;
    if (count == most)
      return true;
  }
  return false;
}

/* Behind those that stand in the queue, or the first of one. */
static SLOW bool insert_queued(struct aprof_future *f, uint32_t hash) {
  struct key_search s = {f->key0, f->key1, f->ns, .hash = hash};
  rt_lock();
  is_found_from_here(f);
  struct queue *q = queue_of(segment_at(hash), &s);
  bool ok = q != NULL ? queue_append(q, entry_of(f))
            : ring_holds(hash) || is_crowded(segment_at(hash), hash, EQUAL_WORDS)
                ? queue_begin(f, hash)
                : put_anywhere((uint64_t)hash << 32 | index_of(f), true);
  if (!ok)
    f->flags &= (uint8_t)~APROF_F_KEYED;
  rt_unlock();
  return ok;
}

bool key_insert_equal(struct aprof_future *f) {
  uint32_t hash = key_hash(f->key0, f->key1);
  struct key_segment *segment = segment_at(hash);
  bool whole = __atomic_load_n(&segment->older, __ATOMIC_ACQUIRE) == NULL;
  if (unlikely(__atomic_load_n(queues_of(hash), __ATOMIC_RELAXED) != 0))
    return insert_queued(f, hash);
  if (ring_holds(hash) || (whole && is_crowded(segment, hash, RING_FROM))) {
    is_found_from_here(f);
    if (likely(ring_append(hash, f)))
      return true;
    whole = whole && !ring_holds(hash) && !is_crowded(segment, hash, EQUAL_WORDS);
  }
  return likely(whole) ? key_insert(f) : insert_queued(f, hash);
}

/* -- removal ---------------------------------------------------------------------------- */

/* False: another thread has just done that. */
static bool remove_at(struct key_segment *segment, uint32_t hash, uint32_t at, uint64_t word) {
  return swapped(&segment->word[(hash + at) % KEY_WORDS], &word, (uint64_t)hash << 32 | KEY_TOMB,
                 RELEASE);
}

/* Queues of this hash, one of which had a future that is found no more. */
static SLOW void trim_queues(uint32_t hash) {
  rt_lock();
  struct key_segment *segment = segment_at(hash);
  uint64_t word;
  for (uint32_t at = 0; (word = next_word(segment, hash, &at)) != 0;) {
    if (!(word & QUEUE))
      continue;
    queue_at(word)->ended++;
    if (queue_trim(queue_at(word)))
      continue;
    remove_at(segment, hash, at - 1, word);
    __atomic_fetch_sub(queues_of(hash), 1, __ATOMIC_RELAXED);
    cell_free((uint32_t)word & ~QUEUE);
  }
  rt_unlock();
}

/* True: its own word was there. */
static bool remove_in(struct key_segment *segment, uint64_t wanted, bool *queued) {
  uint32_t hash = (uint32_t)(wanted >> 32);
  uint64_t word;
  for (uint32_t at = 0; (word = next_word(segment, hash, &at)) != 0;) {
    if (word == wanted)
      return remove_at(segment, hash, at - 1, word);
    if (word & QUEUE)
      *queued = true;
  }
  return false;
}

/* True: no word of its own was there, but a queue or a ring. */
static bool remove_word(uint32_t hash, const struct aprof_future *f) {
  uint64_t word = (uint64_t)hash << 32 | index_of(f);
  for (;;) {
    struct key_segment *segment = segment_at(hash);
    struct key_segment *older = __atomic_load_n(&segment->older, __ATOMIC_ACQUIRE);
    bool queued = false, found = remove_in(segment, word, &queued);
    if (unlikely(older != NULL))
      found |= remove_in(older, word, &queued);
    if (likely(segment_at(hash) == segment))
      return !found && (queued || ring_holds(hash));
  }
}

void key_remove(struct aprof_future *f) {
  uint32_t hash = key_hash(f->key0, f->key1);
  f->flags &= (uint8_t)~APROF_F_KEYED;
  if (likely(!remove_word(hash, f)))
    return;
  ring_trim(hash);
  if (unlikely(__atomic_load_n(queues_of(hash), __ATOMIC_RELAXED) != 0))
    trim_queues(hash);
}

bool key_withdraw(const struct aprof_future *f, uint64_t key0, uint64_t key1) {
  return !remove_word(key_hash(key0, key1), f);
}
