/* SPDX-License-Identifier: MIT */
/* libdwfl walks a stack that it takes for a stopped thread's; see unwind.h. */
#include "unwind.h"

#include "read/demangle.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 64 };
static const struct hit *unwound; /* libdwfl keeps one state for all times */

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread) {
  (void)dwfl;
  (void)context;
  if (*thread)
    return 0;
  *thread = (void *)unwound;
  return unwound->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread) {
  (void)dwfl;
  (void)context;
  *thread = (void *)unwound;
  return unwound && unwound->tid == tid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context) {
  bool late = false;
  (void)dwfl;
  (void)context;
  return hit_read(unwound, address, word, sizeof *word, &late);
}

static bool set_registers(Dwfl_Thread *thread, void *context) {
  Dwarf_Word reg[MACHINE_REGISTERS];
  (void)context;
  for (int i = 0; i < MACHINE_REGISTERS; i++)
    reg[i] = unwound->reg[i];
  dwfl_thread_state_register_pc(thread, unwound->reg[MACHINE_COUNTER]);
  return dwfl_thread_state_registers(thread, 0, MACHINE_REGISTERS, reg);
}

static const Dwfl_Thread_Callbacks callbacks = {.next_thread = next_thread,
                                                .get_thread = get_thread,
                                                .memory_read = read_memory,
                                                .set_initial_registers = set_registers};

static bool attach(struct debug *d) {
  d->unwinds = d->unwinds || dwfl_attach_state(d->dwfl, NULL, (pid_t)d->pid, &callbacks, d);
  return d->unwinds;
}

bool unwind_start(struct debug *d) {
  if (attach(d))
    return true;
  complain("stacks of process %ld cannot be read: %s", d->pid, dwfl_errmsg(-1));
  return false;
}

struct frames {
  struct debug *debug;
  char *name[FRAMES_MOST];
  size_t count;
};

static int take_frame(Dwfl_Frame *frame, void *context) {
  struct frames *f = context;
  Dwarf_Addr pc;
  bool activation;
  if (f->count == FRAMES_MOST || !dwfl_frame_pc(frame, &pc, &activation))
    return DWARF_CB_ABORT;
  if (!activation)
    pc--;
  Dwfl_Module *module = dwfl_addrmodule(f->debug->dwfl, pc);
  const char *name = module ? dwfl_module_addrname(module, pc) : NULL;
  f->name[f->count++] = name ? demangle(name) : print_string("0x%llx", (unsigned long long)pc);
  return DWARF_CB_OK;
}

char *unwind_text(const struct hit *h) {
  struct frames f = {.debug = h->debug};
  char *text = NULL;
  size_t size;
  unwound = h;
  dwfl_getthread_frames(h->debug->dwfl, h->tid, take_frame, &f);
  FILE *out = open_memstream(&text, &size);
  for (size_t i = f.count; i > 0 && out; i--)
    fprintf(out, "%s%s", f.name[i - 1], i > 1 ? " < " : "");
  for (size_t i = 0; i < f.count; i++)
    free(f.name[i]);
  if (out)
    fclose(out);
  return text ? text : print_string("?");
}

struct addresses {
  uint64_t *to;
  size_t count, most;
};

static int take_address(Dwfl_Frame *frame, void *context) {
  struct addresses *a = context;
  Dwarf_Addr pc;
  if (a->count == a->most || !dwfl_frame_pc(frame, &pc, NULL))
    return DWARF_CB_ABORT;
  a->to[a->count++] = pc;
  return DWARF_CB_OK;
}

size_t unwind_addresses(const struct hit *h, uint64_t *to, size_t most) {
  struct addresses a = {to, 0, most};
  unwound = h;
  dwfl_getthread_frames(h->debug->dwfl, h->tid, take_address, &a);
  return a.count;
}

/* -- the caller ------------------------------------------------------------------------ */

struct wanted {
  struct hit *caller;
  int at;
  bool found;
};

static int take_caller(Dwfl_Frame *frame, void *context) {
  struct wanted *w = context;
  struct hit *c = w->caller;
  Dwarf_Addr pc;
  bool activation;
  if (w->at++ == 0)
    return DWARF_CB_OK;
  if (!dwfl_frame_pc(frame, &pc, &activation) || activation)
    return DWARF_CB_ABORT;
  for (unsigned i = 0; i < MACHINE_REGISTERS; i++) {
    Dwarf_Word value = 0;
    if (i != MACHINE_COUNTER && dwfl_frame_reg(frame, i, &value))
      c->lacks |= (uint64_t)1 << i;
    c->reg[i] = i == MACHINE_COUNTER ? pc : value;
  }
  w->found = true;
  return DWARF_CB_ABORT;
}

bool unwind_caller(const struct hit *h, struct hit *caller) {
  *caller = *h;
  struct wanted w = {.caller = caller};
  uint64_t frame = location_frame(h), below = frame - h->reg[MACHINE_STACK];
  if (!attach(h->debug) || frame == 0 || below > h->stack_size || h->lacks >> MACHINE_STACK & 1)
    return false;
  unwound = h;
  dwfl_getthread_frames(h->debug->dwfl, h->tid, take_caller, &w);
  if (!w.found)
    return false;
  caller->reg[MACHINE_STACK] = frame;
  caller->lacks &= ~((uint64_t)1 << MACHINE_STACK);
  caller->stack += below;
  caller->stack_size -= below;
  caller->function = NULL;
  caller->callers++;
  caller->unit = debug_unit_at(h->debug, caller->reg[MACHINE_COUNTER] - 1, &caller->module,
                               &caller->room, &caller->bias);
  caller->pc = caller->reg[MACHINE_COUNTER] - 1 - caller->bias;
  return true;
}
