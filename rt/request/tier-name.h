/* SPDX-License-Identifier: MIT */
/* Names of tiers, in the header, by number from 1; see tier-name.c. Inside an event. */
#ifndef APROF_RT_TIER_NAME_H
#define APROF_RT_TIER_NAME_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* The number of a name's tier, "(other)" where there is no room. rt.lock held. */
uint32_t tier_number(const char *name);

#pragma GCC visibility pop

#endif
