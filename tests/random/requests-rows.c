/* SPDX-License-Identifier: MIT */
/* The model's requests, added up by kind. */
#include "requests.h"

uint64_t requests_sum(const uint64_t *amounts) {
  uint64_t all = 0;
  for (unsigned i = 0; i < TIERS; i++)
    all += amounts[i];
  return all;
}

static uint64_t bucket_lower(uint64_t value) {
  uint64_t width = 1;
  while (value / width >= 32)
    width *= 2;
  return value / width * width;
}

static void amount(struct rows *rows, const char *kind, const char *what, uint64_t value) {
  char text[64];
  rows_add(rows, kind, what, value);
  snprintf(text, sizeof text, "%s max", what);
  rows_max(rows, kind, text, value);
  snprintf(text, sizeof text, "%s histogram", what);
  rows_bucket(rows, kind, text, bucket_lower(value), 1);
}

static void tier_rows(const struct request *r, unsigned tier, const char *kind, struct rows *rows) {
  const struct share *has = &r->has;
  char place[300];
  if (!has->touched[tier] && !has->calls[tier])
    return;
  snprintf(place, sizeof place, "%s tier %s", kind, tier_name(tier));
  rows_add(rows, place, "count", 1);
  amount(rows, place, "calls", has->calls[tier]);
  amount(rows, place, "exec", has->exec[tier]);
  amount(rows, place, "waiting", has->waiting[tier]);
  amount(rows, place, "wall", has->wall[tier]);
}

static void over_rows(const struct request *r, const char *kind, struct rows *rows) {
  rows_add(rows, kind, "count", 1);
  rows_add(rows, kind, "failed", r->failed);
  amount(rows, kind, "wall", r->wall);
  amount(rows, kind, "exec", r->exec);
  amount(rows, kind, "queued", r->queued);
  amount(rows, kind, "waiting", r->waiting);
  for (unsigned tier = 1; tier < TIERS; tier++)
    tier_rows(r, tier, kind, rows);
  rows_add(rows, kind, "after", r->after);
  rows_add(rows, kind, "after exec", r->after_exec);
}

void requests_rows(struct ledger *ledger, struct rows *rows) {
  const struct requests *all = ledger->requests;
  for (unsigned i = 0; i < all->count; i++) {
    const struct request *r = &all->request[i];
    if (r->none || (r->implicit && all->roots))
      continue;
    char kind[256];
    snprintf(kind, sizeof kind, "request %s of %s", r->label ? r->label : "-",
             r->over ? r->function : r->first->site->name);
    if (r->over)
      over_rows(r, kind, rows);
    else
      rows_add(rows, kind, "live", 1);
  }
  rows_add(rows, "health", "lost requests", all->lost);
}

bool requests_check(struct ledger *ledger) {
  struct requests *all = ledger->requests;
  uint64_t exec = all->none, threads = 0;
  for (unsigned i = 0; i < all->count; i++) {
    struct request *r = &all->request[i];
    exec += requests_sum(r->has.exec) + r->after_exec;
  }
  for (unsigned i = 0; i < ledger->future_count; i++) {
    struct future *f = &ledger->futures[i];
    exec += f->state != DETACHED ? requests_sum(f->share.exec) : 0;
    exec += f->state == RUNNING ? ledger->now - f->last : 0;
  }
  for (unsigned i = 0; i < PROGRAM_THREADS; i++)
    threads += ledger->threads[i].exec;
  return exec == threads;
}
