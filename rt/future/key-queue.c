/* SPDX-License-Identifier: MIT */
/* Queues of futures of equal keys; see key-queue.h. */
#include "key-queue.h"

#include "rt/file/arena.h"

static uint32_t cells; /* list of free ones; rt.lock */

void queues_reset(void) {
  cells = 0;
}

uint32_t cell_new(void) {
  uint32_t index = cells;
  if (index == 0) {
    enum { COUNT = 31 }; /* a page with its head */
    union cell *chunk = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, COUNT, sizeof *chunk);
    if (chunk == NULL)
      return 0;
    index = index_of((struct aprof_future *)chunk);
    for (uint32_t i = 0; i < COUNT; i++)
      chunk[i].next = i + 1 < COUNT ? index + i + 1 : 0;
  }
  cells = cell_at(index)->next;
  memset(cell_at(index), 0, sizeof(union cell));
  return index;
}

void cell_free(uint32_t index) {
  cell_at(index)->next = cells;
  cells = index;
}

/* One at least is there. */
static bool cell_spare(void) {
  uint32_t cell = cell_new();
  if (cell != 0)
    cell_free(cell);
  return cell != 0;
}

bool queue_append(struct queue *q, uint64_t entry) {
  struct entries *last = q->last != 0 ? &cell_at(q->last)->entries : NULL;
  if (last == NULL || last->until == ENTRIES) {
    uint32_t added = cell_new();
    if (added == 0)
      return false;
    if (last != NULL)
      last->next = added;
    else
      q->first = added;
    q->last = added;
    last = &cell_at(added)->entries;
  }
  last->entry[last->until++] = entry;
  q->entries++;
  return true;
}

bool queue_trim(struct queue *q) {
  struct queue left = {0};
  bool all = q->entries > 2 * ENTRIES && q->ended > q->entries / 2 && cell_spare();
  while (q->first != 0) {
    struct entries *first = &cell_at(q->first)->entries;
    for (; first->from < first->until; first->from++) {
      uint64_t entry = first->entry[first->from];
      bool found = entered(entry) != NULL;
      if (found && !all)
        return true;
      if (found)
        queue_append(&left, entry);
      else
        q->ended -= q->ended != 0;
      q->entries--;
    }
    uint32_t over = q->first;
    q->first = first->next;
    cell_free(over);
  }
  *q = left;
  return q->first != 0;
}
