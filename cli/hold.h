/* SPDX-License-Identifier: MIT */
/*
 * A recorder that starts a program, and the program's end: totals of it, with which its profile
 * goes, are made no sooner than the recorder has the profile, however short the program is.
 *
 * Cost: nothing where nobody records. Locking: a file in the recorder's directory, which it holds;
 * where the recorder dies, the kernel lets go.
 */
#ifndef APROF_CLI_HOLD_H
#define APROF_CLI_HOLD_H

enum { HOLD_WAIT_S = 10 };

/* Profiles below this directory stay. -1 after a message. */
int hold_begin(const char *directory);
void hold_end(const char *directory, int hold);
/* Before this profile is removed. Waits for HOLD_WAIT_S at most: a recorder of another version may
   never take it. */
void hold_wait(const char *profile);

#endif
