/* SPDX-License-Identifier: MIT */
/* What each thread starts with, and what stands in for what is not there; see rt.h. */
#include "rt.h"

const uint32_t epoch_never = UINT32_MAX;
struct rt rt = {.fd = -1, .usual_epoch = &epoch_never, .spread = 0x9e3779b97f4a7c15ull};

/* Every thread starts here: epoch 0 sends its first event to thread_sees. */
struct thread thread_nobody;
__thread struct here aprof_here __attribute__((tls_model("initial-exec"))) = {&thread_nobody, NULL};

struct aprof_future no_future;
