/* SPDX-License-Identifier: MIT */
/*
 * The table of findings, in the order in which they are shown; a future alive that several claim
 * is of the first.
 *
 * FINDING_TABLE(ROW) is ROW(KIND, name, limit) of each: FINDING_KIND is its number, `name` what it
 * is called, finding_name (findings.h) the row in its file, and `limit` what its option is without
 * being given (0: it has none). Cost, locking: none; data.
 */
#ifndef APROF_ASK_FINDING_TABLE_H
#define APROF_ASK_FINDING_TABLE_H

/* Each row's comment says what it is. lost stands before what may come of it. */
#define FINDING_TABLE(ROW)                                                                         \
  ROW(HELD, held, 10000000)          /* a function holds the loop: ns */                           \
  ROW(STUCK, stuck, 1000000000)      /* waits far longer than usual: ns at least */                \
  ROW(ENDLESS, endless, 10000000000) /* a request that goes on: ns at least */                     \
  ROW(BLOCKING, blocking, 0)         /* calls what blocks, over held's limit */                    \
  ROW(NEVER_RAN, never_ran, 0)       /* ready and never run, over stuck's limit */                 \
  ROW(LEAKED, leaked, 10)            /* left at exit: so many of one place */                      \
  ROW(QUEUED, queued, 0)             /* ready for long before it runs, over held's limit */        \
  ROW(POOL, pool, 0)                 /* waits that nothing covers */                               \
  ROW(TWO_SPEEDS, two_speeds, 0)     /* mostly short, and now and then very long */                \
  ROW(SPINNING, spinning, 1000)      /* wakes of itself that lead to nothing */                    \
  ROW(STORM, storm, 0)               /* runs so often that it holds the loop */                    \
  ROW(UNEVEN, uneven, 0)             /* one loop has the work of several */                        \
  ROW(GROWING, growing, 0)           /* more and more of them live */                              \
  ROW(LOST, lost, 0)                 /* in no number */                                            \
  ROW(REUSED, reused, 0)             /* a key used again while its future lives */                 \
  ROW(UNPLACED, unplaced, 0)         /* events that found no future */

#endif
