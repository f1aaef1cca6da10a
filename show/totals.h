/*
 * Totals: a profile as JSON, aprof.totals/1.
 *
 * Purpose: the one writer of the format that doc/aprof.totals-1.schema.json and
 * aprof-totals(5) describe.
 * Cost: arrays are streamed element by element, so memory does not grow with
 * the output. Locking: none.
 */
#ifndef APROF_SHOW_TOTALS_H
#define APROF_SHOW_TOTALS_H

#include "read/model.h"

#include <cjson/cJSON.h>
#include <stdio.h>

#define TOTALS_SCHEMA "aprof.totals/1"
#define TOTALS_LIVE_LIMIT 1000u /* futures listed one by one */

struct totals_request {
  const char *reason; /* "exit", "signal", "request", "recovered" */
  uint64_t sequence;  /* of the signal */
  uint64_t at;        /* tick that counts as now; 0: find out */
  const char *path;   /* of the profile; NULL for a memfd */
};

/*
 * Writes the totals of the profile open as `fd` to `out`. False after a message
 * where it cannot be read; a failing `out` is the caller's to see (ferror).
 */
bool totals_make(int fd, const char *what, enum profile_state state,
                 const struct totals_request *request, FILE *out);

/* totals-function.c: how functions are numbered and shown. */
struct totals_order {
  uint32_t *shown;  /* functions in the order of the file */
  uint32_t *number; /* function to its place there, MODEL_NONE: left out */
  uint32_t count;
  bool *path_shown; /* by node */
};
void totals_order(const struct model *m, struct totals_order *order);
void totals_order_release(struct totals_order *order);
cJSON *totals_function(const struct model *m, const struct model_function *f);

cJSON *totals_node(const struct model *m, const struct totals_order *order, uint32_t index);

/* totals-live.c */
void totals_live(const struct model *m, const struct totals_order *order, FILE *out);

/* totals-loop.c: what the profiling cost and missed, and how the loops are. */
bool totals_were_reset(const struct aprof_header *header);
void totals_overhead(const struct model *m, cJSON *object, uint64_t cost, uint64_t elapsed);
void totals_loops(const struct model *m, FILE *out);
/* Events that found nothing, by place. */
void totals_misses(const struct model *m, FILE *out);

/* totals-findings.c: the array of findings, made of the text of totals without
   tree; `body` ends behind "functions", `live` is the elements of that array. */
void totals_findings(const char *body, const char *live, FILE *out);

/* The two places that bracket a slice, as two members of two elements. */
void totals_slice(const struct model *m, cJSON *object, const char *prefix, uint64_t time,
                  uint32_t from, uint32_t to);

/* Adds "file", "line" (and the callee's name as `role`) of a site. */
void totals_site(cJSON *object, const char *role, const struct name *name);
cJSON *totals_place(const struct name *name);
const char *totals_kind(const struct name *name);

#endif
