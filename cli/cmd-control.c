/* SPDX-License-Identifier: MIT */
/*
 * aprof on|off|reset: switches a live process through its profile, by the steps that the runtime's
 * own enable and reset take (aprof_switch, aprof_start_again); no signal, no code of ours runs in
 * it.
 */
#include "arguments.h"
#include "cli.h"
#include "control.h"
#include "read/clock.h"
#include "record/switch.h"
#include "show/emit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void switch_on(struct aprof_header *h, uint64_t now) {
  aprof_switch(h, 1, now);
}

static void switch_off(struct aprof_header *h, uint64_t now) {
  aprof_switch(h, 0, now);
}

bool control_may(const struct found *found) {
  struct stat st;
  if (found->state != PROFILE_LIVE) {
    complain("%s belongs to no live process: nothing can be switched in it", found->what);
    return false;
  }
  if (fstat(found->fd, &st) || (st.st_uid != geteuid() && geteuid() != 0)) {
    complain("%s is another user's; ask as that user", found->what);
    return false;
  }
  if ((uint64_t)st.st_size < APROF_HEADER_SIZE) {
    complain("%s is damaged: it is shorter than a profile's header", found->what);
    return false;
  }
  return true;
}

struct aprof_header *control_map(const struct found *found, bool writable) {
  int may = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void *mapped = mmap(NULL, APROF_HEADER_SIZE, may, MAP_SHARED, found->fd, 0);
  if (mapped == MAP_FAILED)
    complain("cannot map the profile of %s: %s", found->what, strerror(errno));
  return mapped != MAP_FAILED ? mapped : NULL;
}

/* The owner of the file has cut it while it was mapped here. */
void control_bus_error(int number) {
  static const char text[] = "aprof: the profile was cut while it was written to; nothing holds\n";
  (void)number;
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
    _exit(CLI_FAILED);
  _exit(CLI_FAILED);
}

void control_busy(const struct found *found, const struct aprof_header *h) {
  uint32_t holder = __atomic_load_n(&h->control_lock, __ATOMIC_RELAXED);
  if (!holder || switch_is_near(holder))
    complain("process %u keeps the switch of %s; try again", aprof_control_pid(holder),
             found->what);
  else
    complain("process %u of another PID namespace keeps the switch of %s; try again, and from "
             "there if that process was killed",
             aprof_control_pid(holder), found->what);
}

static const struct option_row options[] = {
    {"json", 0, OPTION_FLAG, 0, .text = "Print how that is now, as JSON (aprof.switch/1)"}, {0}};

static void print_json(const struct found *found, const struct aprof_header *h) {
  struct emit *e = allocate(1, sizeof *e);
  emit_begin(e, stdout, "aprof.switch/1");
  emit_signed(e, "pid", found->pid ? found->pid : h->pid);
  emit_bool(e, "enabled", h->enabled);
  emit_number(e, "epoch", h->epoch);
  emit_number(e, "reset_epoch", h->reset_epoch);
  emit_end(e);
  free(e);
}

/* False after a message. */
static bool change_in(const struct found *found, bool json,
                      void (*change)(struct aprof_header *, uint64_t now)) {
  struct aprof_header *h = control_map(found, true);
  if (!h)
    return false;
  bool locked = switch_lock(h);
  if (locked) {
    change(h, profile_clock(h));
    switch_unlock(h);
    if (json)
      print_json(found, h);
  } else
    control_busy(found, h);
  munmap(h, APROF_HEADER_SIZE);
  return locked;
}

static int control(int argc, char **argv, const char *about,
                   void (*change)(struct aprof_header *, uint64_t now)) {
  bool json = false;
  struct arguments a = {.usage = "PID|NAME",
                        .offers = OFFER_PROCESSES,
                        .about = about,
                        .table = {{options, &json}},
                        .least = 1,
                        .most = 1,
                        .lacking = "which process? Give a PID or a NAME (`aprof list' shows them)",
                        .too_many = "one process at a time"};
  struct found found;
  arguments_parse(&a, argc, argv);
  signal(SIGBUS, control_bus_error);
  if (!find_profile(a.word[0], true, &found))
    return CLI_FAILED;
  bool done = control_may(&found) && change_in(&found, json, change);
  found_release(&found);
  return done ? CLI_OK : CLI_FAILED;
}

int cmd_on(int argc, char **argv) {
  return control(argc, argv,
                 "Switches profiling of live process PID on.\v"
                 "Futures that were created while it was off stay out of the totals.",
                 switch_on);
}

int cmd_off(int argc, char **argv) {
  return control(argc, argv,
                 "Switches profiling of live process PID off.\v"
                 "Futures alive now count as detached. What was counted stays, and `aprof on' "
                 "goes on from there.",
                 switch_off);
}

int cmd_reset(int argc, char **argv) {
  return control(argc, argv,
                 "Starts the totals of live process PID again from zero.\v"
                 "Futures alive now are left out of the new totals.",
                 aprof_start_again);
}
