/* SPDX-License-Identifier: MIT */
/* The requests of the profile of this process as rows. */
#include "reader-inside.h"

#include <stdlib.h>

static const char *text_at(const struct aprof_header *header, uint32_t offset) {
  return offset ? reader_at(header, (uint64_t)offset * 8) : "-";
}

static void add_amount(struct reading *r, const char *place, const char *what,
                       const struct aprof_amount *amount) {
  char text[64];
  rows_add(r->rows, place, what, amount->sum);
  snprintf(text, sizeof text, "%s max", what);
  rows_max(r->rows, place, text, amount->max);
  snprintf(text, sizeof text, "%s histogram", what);
  if (amount->histogram > 1)
    reader_buckets(r, place, text, reader_at(r->header, (uint64_t)amount->histogram * 8), 0);
}

static void add_part(struct reading *r, const struct aprof_kind *kind,
                     const struct aprof_kind_part *part) {
  char place[256], tier_place[512];
  if (!kind || (r->header->roots && (kind->flags & APROF_REQUEST_IMPLICIT)) ||
      part->epoch != r->header->reset_epoch)
    return;
  snprintf(place, sizeof place, "request %s of %s", text_at(r->header, kind->label),
           reader_site(r, kind->function));
  rows_add(r->rows, place, "count", part->count);
  rows_add(r->rows, place, "failed", part->failed);
  rows_add(r->rows, place, "after", part->after);
  rows_add(r->rows, place, "after exec", part->after_exec);
  add_amount(r, place, "wall", &part->wall);
  add_amount(r, place, "exec", &part->exec);
  add_amount(r, place, "queued", &part->queued);
  add_amount(r, place, "waiting", &part->waiting);
  for (uint32_t offset = part->tiers; offset;) {
    const struct aprof_kind_tier *tier = reader_at(r->header, (uint64_t)offset * 8);
    snprintf(tier_place, sizeof tier_place, "%s tier %s", place,
             text_at(r->header, r->header->tier_names[tier->tier]));
    rows_add(r->rows, tier_place, "count", tier->count);
    add_amount(r, tier_place, "calls", &tier->calls);
    add_amount(r, tier_place, "exec", &tier->exec);
    add_amount(r, tier_place, "waiting", &tier->waiting);
    add_amount(r, tier_place, "wall", &tier->wall);
    offset = tier->next;
  }
}

static const struct aprof_kind *kind_of(struct reading *r, uint32_t number) {
  const struct aprof_header *h = r->header;
  for (uint64_t offset = h->header_size; offset < h->used;) {
    const struct aprof_chunk *chunk = reader_at(h, offset);
    if (chunk->type == APROF_CHUNK_KINDS && number - chunk->first < chunk->count)
      return reader_element(chunk, number - chunk->first);
    offset += chunk->size ? chunk->size : APROF_PAGE;
  }
  return NULL;
}

static void add_live(struct reading *r, const struct aprof_request *request) {
  char place[256];
  const struct aprof_kind *kind = request->no_label ? NULL : kind_of(r, request->kind);
  if (!request->id || request->id >> 48 != r->header->epoch ||
      request->state != APROF_REQUEST_LIVE ||
      (r->header->roots && (request->flags & APROF_REQUEST_IMPLICIT)))
    return;
  const struct aprof_future *first = reader_at(r->header, (uint64_t)request->first * 128);
  uint32_t node = request->first && first->id ? reader_function(r, first->node) : 0;
  snprintf(place, sizeof place, "request %s of %s", kind ? text_at(r->header, kind->label) : "-",
           reader_site(r, node && r->nodes[node] ? r->nodes[node]->site : request->function));
  rows_add(r->rows, place, "live", 1);
}

static void add_requests(struct reading *r, const struct aprof_chunk *chunk) {
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_REQUESTS && i < chunk->count; i++)
    add_live(r, reader_element(chunk, i));
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_KINDS && i < chunk->count; i++)
    if (chunk->first + i < r->header->kinds)
      add_part(r, reader_element(chunk, i),
               &((const struct aprof_kind *)reader_element(chunk, i))->shared);
  for (uint32_t i = 0; chunk->type == APROF_CHUNK_KIND_PARTS && i < chunk->count; i++)
    if (chunk->first + i < r->header->kinds)
      add_part(r, kind_of(r, chunk->first + i), reader_element(chunk, i));
}

void reader_request_rows(const struct aprof_header *header, struct rows *rows) {
  struct reading *r = reader_begins(header, rows);
  reader_each_chunk(r, add_requests);
  rows_add(rows, "health", "lost requests", header->lost_requests);
  rows_add(rows, "health", "lost shares", header->lost_shares);
  free(r);
}
