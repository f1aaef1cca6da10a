/*
 * From keys to futures: an open-addressing table of (hash, record) words.
 *
 * The hash is of the address alone, so that any: finds every namespace; key,
 * namespace and life are checked in the record, so a stale word does no harm.
 * Locking: look-ups and removals take none, inserts one compare and swap. When
 * a table is full a larger one becomes its head under rt.lock and the live
 * words are copied; the old one stays readable.
 */
#include <string.h>

#include "rt.h"

#define FIRST_SIZE 1024u

struct key_table *key_head; /* atomic */

/* Tables that were replaced, newest first; rt.lock. The last two are left alone:
   a look-up that began long ago may still be in them. */
#define RETIRED 8u
static struct key_table *retired[RETIRED];

void key_reset(void) {
  key_head = NULL;
  memset(retired, 0, sizeof retired);
}

static void retire(struct key_table *table) {
  memmove(retired + 1, retired, sizeof retired - sizeof *retired);
  retired[0] = table;
}

/* An empty table of `size` words or a little more. rt.lock held. */
static struct key_table *table_new(uint32_t size) {
  struct key_table *table = NULL;
  for (uint32_t i = 2; i < RETIRED && table == NULL; i++)
    if (retired[i] != NULL && retired[i]->mask >= size - 1 && retired[i]->mask < 4 * size) {
      table = retired[i];
      retired[i] = NULL;
      size = table->mask + 1;
      memset(table, 0, sizeof *table + (uint64_t)size * sizeof(uint64_t));
    }
  if (table == NULL) {
    table = arena_chunk(APROF_CHUNK_KEYS, 0, 0,
                        size + sizeof *table / sizeof(uint64_t), sizeof(uint64_t));
  }
  if (table != NULL)
    table->mask = size - 1;
  return table;
}

static bool is_key(const struct aprof_future *f, uint64_t key0, uint64_t key1, uint32_t ns) {
  return f->key0 == key0 && f->key1 == key1 && (f->flags & APROF_F_KEYED) && f->id != 0 &&
         (f->ns == ns || ns == APROF_NS_ANY);
}

/* The first such future in the table, or the one behind `after`. */
static struct aprof_future *find_in(struct key_table *table, uint64_t hash, uint64_t key0,
                                    uint64_t key1, uint32_t ns, struct aprof_future **after) {
  uint32_t mask = table->mask;
  for (uint32_t i = 0, slot = (uint32_t)hash & mask; i <= mask; i++, slot = (slot + 1) & mask) {
    uint64_t word = __atomic_load_n(&table->word[slot], __ATOMIC_ACQUIRE);
    if (word == 0)
      return NULL;
    if (word >> 32 != hash >> 32 || (uint32_t)word == KEY_TOMB)
      continue;
    struct aprof_future *f = future_at((uint32_t)word);
    if (!is_key(f, key0, key1, ns) || (uint16_t)(f->id >> 48) != (uint16_t)rt.header->epoch)
      continue;
    if (likely(*after == NULL))
      return f;
    if (f == *after)
      *after = NULL;
  }
  return NULL;
}

struct aprof_future *key_next(uint64_t key0, uint64_t key1, uint32_t ns,
                              struct aprof_future *after) {
  uint64_t hash = key_hash(key0, key1);
  for (struct key_table *t = __atomic_load_n(&key_head, __ATOMIC_ACQUIRE); t != NULL; t = t->older) {
    struct aprof_future *f = find_in(t, hash, key0, key1, ns, &after);
    if (likely(f != NULL))
      return f;
  }
  return NULL;
}

/* Of equal keys the first in is the first out; what runs has been taken out. */
struct aprof_future *key_oldest(uint64_t key0, uint64_t key1, uint32_t ns) {
  struct aprof_future *oldest = NULL, *f = NULL;
  while ((f = key_next(key0, key1, ns, f)) != NULL) {
    if (f->open != 0)
      continue;
    if (oldest == NULL || f->created_tick < oldest->created_tick ||
        (f->created_tick == oldest->created_tick && (uint32_t)f->id < (uint32_t)oldest->id))
      oldest = f;
  }
  return oldest != NULL ? oldest : key_find(key0, key1, ns);
}

static bool insert_in(struct key_table *table, uint64_t hash, uint32_t index) {
  uint32_t mask = table->mask;
  if (__atomic_load_n(&table->used, __ATOMIC_RELAXED) > table->mask / 4 * 3)
    return false;
  uint64_t word = (hash >> 32) << 32 | index;
  for (uint32_t slot = (uint32_t)hash & mask;; slot = (slot + 1) & mask) {
    uint64_t seen = __atomic_load_n(&table->word[slot], __ATOMIC_RELAXED);
    if (seen != 0 && (uint32_t)seen != KEY_TOMB)
      continue;
    if (!__atomic_compare_exchange_n(&table->word[slot], &seen, word, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED)) {
      slot = (slot - 1) & mask; /* look at it again */
      continue;
    }
    if (seen == 0)
      __atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED);
    return true;
  }
}

static bool live(uint64_t word) {
  if (word == 0 || (uint32_t)word == KEY_TOMB)
    return false;
  struct aprof_future *f = future_at((uint32_t)word);
  return f->id != 0 && (f->flags & APROF_F_KEYED) &&
         (uint16_t)(f->id >> 48) == (uint16_t)rt.header->epoch &&
         key_hash(f->key0, f->key1) >> 32 == word >> 32;
}

/* A new head for `full`, unless another thread was faster. */
static SLOW bool replace(struct key_table *full) {
  rt_lock();
  if (key_head != full) {
    rt_unlock();
    return true;
  }
  uint32_t count = 0, size = FIRST_SIZE;
  for (uint32_t i = 0; full != NULL && i <= full->mask; i++)
    count += live(__atomic_load_n(&full->word[i], __ATOMIC_RELAXED));
  while (size < count * 4)
    size *= 2;
  struct key_table *fresh = table_new(size);
  if (fresh != NULL) {
    fresh->older = full;
    __atomic_store_n(&key_head, fresh, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; full != NULL && i <= full->mask; i++) {
      uint64_t word = __atomic_load_n(&full->word[i], __ATOMIC_ACQUIRE);
      if (live(word)) {
        struct aprof_future *f = future_at((uint32_t)word);
        insert_in(fresh, key_hash(f->key0, f->key1), (uint32_t)word);
      }
    }
    __atomic_store_n(&fresh->older, NULL, __ATOMIC_RELEASE);
    if (full != NULL)
      retire(full);
  }
  rt_unlock();
  return fresh != NULL;
}

/* The record's key and namespace are set; KEYED is set by this. False without
   memory: the future lives, but no key finds it. */
bool key_insert(struct aprof_future *f) {
  uint64_t hash = key_hash(f->key0, f->key1);
  f->flags |= APROF_F_KEYED;
  for (;;) {
    struct key_table *t = __atomic_load_n(&key_head, __ATOMIC_SEQ_CST);
    if (t == NULL || !insert_in(t, hash, index_of(f))) {
      if (!replace(t)) {
        f->flags &= (uint8_t)~APROF_F_KEYED;
        return false;
      }
      continue;
    }
    /* A head that came in between may have been copied before our word was there. */
    if (likely(t == __atomic_load_n(&key_head, __ATOMIC_SEQ_CST)))
      return true;
  }
}

static bool remove_in(struct key_table *table, uint64_t hash, uint32_t index) {
  uint32_t mask = table->mask;
  uint64_t wanted = (hash >> 32) << 32 | index;
  for (uint32_t i = 0, slot = (uint32_t)hash & mask; i <= mask; i++, slot = (slot + 1) & mask) {
    uint64_t word = __atomic_load_n(&table->word[slot], __ATOMIC_RELAXED);
    if (word == 0)
      return false;
    if (word == wanted) {
      __atomic_store_n(&table->word[slot], (hash >> 32) << 32 | KEY_TOMB, __ATOMIC_RELEASE);
      return true;
    }
  }
  return false;
}

void key_remove(struct aprof_future *f) {
  uint64_t hash = key_hash(f->key0, f->key1);
  f->flags &= (uint8_t)~APROF_F_KEYED;
  for (struct key_table *t = __atomic_load_n(&key_head, __ATOMIC_ACQUIRE); t != NULL; t = t->older)
    remove_in(t, hash, index_of(f));
}
