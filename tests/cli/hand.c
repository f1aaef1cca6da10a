/*
 * A program with its events written by hand, as the plugin would emit them:
 * what the command's tests profile, whatever state the plugin is in.
 *
 *   hand HOW [LOOPS]
 *
 * Each of LOOPS (default 50) rounds runs one handle_upload, which calls one
 * fetch_quota, which waits; the last one holds the loop for 30 ms. HOW says how
 * the program then ends: return, exit N, _exit, kill, segv, abort, live (waits
 * for a line on stdin, then returns), stuck (as live, one future still waiting),
 * fork (a child does the same and is killed), exec (becomes /bin/true), again N
 * (becomes itself N - 1 times, then returns), none
 * (makes no future at all), virtual (on the virtual clock: exact numbers), inside (there:
 * 5 s into one more fetch_quota, that a handle_upload waits for, it waits for a line on
 * stdin, and again when both are over), nested (each handle_upload's creation is interrupted
 * by a signal, whose handler begins a fetch_quota), loop
 * (there, too: LOOPS timers that run 50 us late and block, as many requests that
 * are queued for 7 us once they are woken, and one event that fits nothing).
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aprof.h"
#include "aprof/abi.h"

extern int __aprof_attach(struct aprof_gate *) __attribute__((weak));

static struct aprof_gate gate = {.flag = &gate.closed, .abi = APROF_ABI, .size = sizeof gate};

#define SITE(symbol, text, at, what, how)                                                          \
  static struct aprof_site symbol = {                                                              \
      .name = text, .file = "server.c", .line = at, .column = 3, .kind = what, .model = how}

SITE(handle_upload, "handle_upload", 140, APROF_SITE_FUNCTION, APROF_MODEL_STACK);
SITE(fetch_quota, "fetch_quota", 44, APROF_SITE_FUNCTION, APROF_MODEL_STACK);
SITE(call_fetch, "fetch_quota", 151, APROF_SITE_CALL, 0);
SITE(await_connect, "uv_tcp_connect", 61, APROF_SITE_AWAIT, 0);
SITE(await_write, "uv_write", 160, APROF_SITE_AWAIT, 0);
SITE(idle, "epoll_wait", 12, APROF_SITE_IDLE, 0);

SITE(on_timer, "on_timer", 200, APROF_SITE_FUNCTION, APROF_MODEL_CALLBACK);
SITE(on_request, "on_request", 220, APROF_SITE_FUNCTION, APROF_MODEL_CALLBACK);
SITE(run_timer, "on_timer", 200, APROF_SITE_RUN, 0);
SITE(run_request, "on_request", 220, APROF_SITE_RUN, 0);
SITE(fsync_call, "fsync", 205, APROF_SITE_BLOCKING, 0);
static struct aprof_site timer_start = {.name = "timer_start",
                                        .file = "server.c",
                                        .line = 210,
                                        .kind = APROF_SITE_CREATE,
                                        .flags = APROF_ONCE,
                                        .function = "main"};
static struct aprof_site request = {.name = "request",
                                    .file = "server.c",
                                    .line = 230,
                                    .kind = APROF_SITE_CREATE,
                                    .flags = APROF_ONCE,
                                    .function = "main"};
static struct aprof_site data_wake = {.name = "notify",
                                      .file = "server.c",
                                      .line = 240,
                                      .kind = APROF_SITE_WAKE,
                                      .function = "on_data"};

static int on_virtual_clock;

static void burn(unsigned us) {
  struct timespec now, end;
  if (on_virtual_clock) {
    gate.api_clock_advance(us * UINT64_C(1000));
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += us * 1000L;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void poll_for(unsigned us) {
  struct aprof_token token = {{0}};
  if (*gate.flag)
    gate.idle_begin(&idle, &token);
  if (on_virtual_clock)
    gate.api_clock_advance(us * UINT64_C(1000));
  else
    usleep(us);
  if (token.word[0])
    gate.idle_end(&token);
}

/* Waits as a coroutine does: the loop polls in between. */
static void wait_at(struct aprof_site *site, unsigned us) {
  struct aprof_token token = {{0}};
  if (*gate.flag)
    gate.suspend(site, &token);
  poll_for(us);
  if (token.word[0])
    gate.resume(&token);
}

static int looked_at; /* in the middle of fetch_quota */

/* Tells its PID and waits for a line. */
static void look_at_me(void) {
  char c;
  printf("%d\n", (int)getpid());
  fflush(stdout);
  while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
    ;
}

static void run_fetch_quota(void) {
  struct aprof_token token = {{0}};
  if (*gate.flag)
    gate.enter(&fetch_quota, &token, NULL);
  burn(20);
  if (looked_at) {
    struct aprof_token await = {{0}};
    gate.suspend(&await_connect, &await);
    gate.api_clock_advance(UINT64_C(5000000000));
    look_at_me();
    gate.resume(&await);
  }
  wait_at(&await_connect, 200);
  burn(10);
  if (token.word[0])
    gate.leave(&token, APROF_DONE);
}

/* In the middle of the event that creates a handle_upload. */
static void on_event(const struct aprof_user_event *event, void *arg) {
  (void)arg;
  if (event->kind == APROF_EVENT_CREATED && strcmp(event->function, "handle_upload") == 0)
    raise(SIGUSR2);
}

static void on_signal(int number) {
  struct aprof_token token = {{0}};
  (void)number;
  gate.enter(&fetch_quota, &token, NULL);
  if (token.word[0])
    gate.leave(&token, APROF_DONE);
}

static void run_handle_upload(unsigned work) {
  struct aprof_token token = {{0}};
  if (*gate.flag)
    gate.enter(&handle_upload, &token, NULL);
  burn(50);
  if (*gate.flag)
    gate.at(&call_fetch);
  run_fetch_quota();
  burn(work);
  wait_at(&await_write, 100);
  if (token.word[0])
    gate.leave(&token, APROF_DONE);
}

/* A callback runs for 10 us, and blocks for some more. */
static void run_key(struct aprof_site *run, struct aprof_site *body, uint64_t key, unsigned us) {
  struct aprof_token token = {{0}}, call = {{0}};
  gate.run_begin(run, &token, key, 0, body, NULL);
  burn(10);
  if (us) {
    gate.blocking_begin(&fsync_call, &call);
    burn(us);
    if (call.word[0])
      gate.blocking_end(&call);
  }
  if (token.word[0])
    gate.run_end(&token, APROF_DONE, NULL);
}

static void create_key(struct aprof_site *create, struct aprof_site *body, uint64_t key,
                       uint64_t due_ns) {
  struct aprof_token token = {{0}};
  gate.create_begin(create, &token, body, NULL);
  if (due_ns)
    gate.due(&token, due_ns);
  gate.create_end(&token, key, 0, 1);
}

static void loop_rounds(unsigned count) {
  for (unsigned i = 1; i <= count; i++) {
    create_key(&timer_start, &on_timer, i, 100000);
    poll_for(150);
    run_key(&run_timer, &on_timer, i, 1000);
    create_key(&request, &on_request, 1000 + i, 0);
    poll_for(30);
    gate.wake(&data_wake, 1000 + i, 0);
    burn(7);
    run_key(&run_request, &on_request, 1000 + i, 0);
  }
  run_key(&run_request, &on_request, 999, 0); /* nobody made it */
}

static void rounds(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    run_handle_upload(i + 1 == count ? 30000 : 40);
    poll_for(50);
  }
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "return";
  unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 50;
  if (__aprof_attach != NULL)
    __aprof_attach(&gate);
  if (strcmp(how, "none") == 0)
    return 3;
  int loop = strcmp(how, "loop") == 0;
  int inside = strcmp(how, "inside") == 0;
  on_virtual_clock =
      (loop || inside || strcmp(how, "virtual") == 0) && gate.api_clock_advance != NULL;
  if (strcmp(how, "nested") == 0) {
    signal(SIGUSR2, on_signal);
    gate.api_callback(on_event, NULL);
  }
  if (loop && *gate.flag)
    loop_rounds(count);
  if (!loop)
    rounds(count);
  if (strcmp(how, "exit") == 0)
    exit(argc > 3 ? atoi(argv[3]) : 0);
  if (strcmp(how, "_exit") == 0)
    _exit(4);
  if (strcmp(how, "kill") == 0)
    kill(getpid(), SIGKILL);
  if (strcmp(how, "segv") == 0)
    raise(SIGSEGV);
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "exec") == 0)
    execl("/bin/true", "true", (char *)NULL);
  if (strcmp(how, "again") == 0 && count > 1) {
    char less[24];
    snprintf(less, sizeof less, "%d", (int)count - 1);
    execl("/proc/self/exe", "hand", how, less, (char *)NULL);
  }
  if (strcmp(how, "live") == 0) {
    look_at_me();
    rounds(count);
    look_at_me();
  }
  if (inside) {
    looked_at = 1;
    run_handle_upload(40);
    look_at_me();
  }
  if (strcmp(how, "stuck") == 0) {
    struct aprof_token token = {{0}}, await = {{0}};
    if (*gate.flag) {
      gate.enter(&fetch_quota, &token, NULL);
      gate.suspend(&await_connect, &await);
    }
    look_at_me();
  }
  if (strcmp(how, "fork") == 0) {
    pid_t pid = fork();
    if (pid == 0) {
      rounds(count);
      kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
