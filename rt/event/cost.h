/* SPDX-License-Identifier: MIT */
/* What an event costs here; see cost.c. */
#ifndef APROF_RT_COST_H
#define APROF_RT_COST_H

/* event_cost_mticks of the header; once, before the first future. */
void cost_measure(void);

#endif
