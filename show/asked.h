/* SPDX-License-Identifier: MIT */
/*
 * What answers about recordings share: names of paths, one unit for a table, where all of it is
 * from.
 *
 * Cost: none worth a thought. Locking: none; texts are of turn_text (read/util.h).
 */
#ifndef APROF_SHOW_ASKED_H
#define APROF_SHOW_ASKED_H

#include "ask/on-cpu.h"
#include "ask/tail.h"
#include "emit.h"
#include "read/view.h"

#include <stdio.h>

/* Numbers of a table are all in this. */
struct asked_unit {
  const char *name; /* "ms" */
  double ns;
  int digits; /* behind the point */
};
/* In which a time that long has four digits or so. */
struct asked_unit asked_unit(double ns);
const char *asked_time(const struct asked_unit *, double ns);
const char *asked_change(const struct asked_unit *, double ns); /* with its sign */

/* "get > pool_get" of an await: who waits for what; a function's or span's name. "?" of none. */
const char *asked_name(const struct story *, uint32_t path);
/* "db.c:77"; "" where it is not known. */
const char *asked_place(const struct story *, uint32_t path);
/* Both, the name cut where they take more than `width` columns. */
const char *asked_path(const struct story *, uint32_t path, size_t width);
/* "running", by enum critical_what. */
extern const char *const asked_whats[];
/* "the loop itself", by enum blame_none. */
const char *asked_none(int none);

/* What a row is of, in so many columns: a path, "behind hog hog.c:3", the loop itself. */
const char *asked_row(const struct story *, const struct tail_row *, size_t width);

/* "60.1 ms on a processor, 3.1 ms preempted": what there is of it. */
const char *asked_on_cpu(const struct on_cpu *);
/* "on_cpu_ns" and so on; null where nothing is known of switches. */
void asked_emit_on_cpu(struct emit *, const struct story *, const struct on_cpu *);

/* "14:03:11.204", UTC. */
const char *asked_clock(const struct story *, uint64_t ns);

/* "GET /item, slowest 5 % (over 24 ms): 900 of 18.0k" */
const char *asked_slow(const struct slowest_kind *, const struct slowest_filter *);
/* The last lines: of which process, how long, what it lacks. */
void asked_print_source(const struct story *, FILE *out);

/* "recording": the same. */
void asked_emit_source(struct emit *, const struct story *);
/* "samples": what is to be known of them; null where there are none. */
void asked_emit_samples(struct emit *, const struct view_sampled *);
/* "path", "name", "at" of a path; null of none. */
void asked_emit_path(struct emit *, const struct story *, uint32_t path);
/* "what", "behind", "by", and the path. */
void asked_emit_row(struct emit *, const struct story *, const struct tail_row *);

/* An output's, whose options begin with a struct slowest_filter. */
const char *asked_fault(const void *options, size_t targets, bool json);

#endif
