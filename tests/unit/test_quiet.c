/* SPDX-License-Identifier: MIT */
/* Signals for what the runtime does stay with it, and nobody else's do (rt/sys/quiet.c). */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/rt.h"
#include "rt/sys/quiet.h"
#include "suite.h"

static volatile sig_atomic_t came;
static siginfo_t who;

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  who = *info;
  came++;
}

static const int numbers[] = {SIGPIPE, SIGXFSZ, SIGTTOU};

static void setup(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  for (size_t i = 0; i < 3; i++)
    sigaction(numbers[i], &action, NULL);
  came = 0;
}

/* ThreadSanitizer calls handlers whenever the program calls libc. */
static void let_handlers_run(void) {
  close(-1);
}

static void break_a_pipe(void) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  close(ends[0]);
  ck_assert_int_eq(write(ends[1], "x", 1), -1);
  close(ends[1]);
}

static void pass_a_limit(void) {
  struct rlimit limit, none;
  getrlimit(RLIMIT_FSIZE, &limit);
  none = (struct rlimit){0, limit.rlim_max};
  int file = (int)syscall(SYS_memfd_create, "limited", 0);
  setrlimit(RLIMIT_FSIZE, &none);
  ck_assert_int_eq(ftruncate(file, 1), -1);
  setrlimit(RLIMIT_FSIZE, &limit);
  close(file);
}

START_TEST(our_own_do_not_arrive) {
  struct quiet quiet;
  quiet_begin(&quiet);
  break_a_pipe();
  pass_a_limit();
  quiet_end(&quiet);
  let_handlers_run();
  ck_assert_int_eq(came, 0);
  /* They would have. */
  break_a_pipe();
  ck_assert_int_eq(came, 1);
  pass_a_limit();
  ck_assert_int_gt(came, 1);
}
END_TEST

START_TEST(what_was_pending_arrives) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigprocmask(SIG_BLOCK, &set, &before);
  break_a_pipe();
  struct quiet quiet;
  quiet_begin(&quiet);
  break_a_pipe();
  quiet_end(&quiet);
  ck_assert_int_eq(came, 0);
  sigprocmask(SIG_SETMASK, &before, NULL);
  let_handlers_run();
  ck_assert_int_eq(came, 1);
}
END_TEST

/* Sent to this thread, and, from a child, to the process; ours comes before or after. */
static void sent_meanwhile(int number, bool ours_first, bool from_a_child) {
  setup();
  struct quiet quiet;
  quiet_begin(&quiet);
  if (ours_first)
    pass_a_limit();
  pid_t sender = getpid();
  if (!from_a_child)
    raise(number);
  else if ((sender = fork()) == 0)
    _exit(kill(getppid(), number));
  else
    waitpid(sender, NULL, 0);
  if (!ours_first)
    pass_a_limit();
  quiet_end(&quiet);
  let_handlers_run();
  ck_assert_int_eq(came, 1);
  ck_assert_int_eq(who.si_signo, number);
  ck_assert_int_eq(who.si_code, from_a_child ? SI_USER : SI_TKILL);
  ck_assert_int_eq(who.si_pid, sender);
}

START_TEST(what_others_send_arrives) {
  for (size_t i = 0; i < 3; i++) {
    sent_meanwhile(numbers[i], false, true);
    sent_meanwhile(numbers[i], true, true);
    sent_meanwhile(numbers[i], false, false);
  }
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("quiet");
  tcase_add_checked_fixture(tcase, setup, NULL);
  tcase_add_test(tcase, our_own_do_not_arrive);
  tcase_add_test(tcase, what_was_pending_arrives);
  tcase_add_test(tcase, what_others_send_arrives);
  return suite_run("quiet", tcase);
}
