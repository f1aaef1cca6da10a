/* SPDX-License-Identifier: MIT */
/* Who asks of a live process; see inquiry.h. */
#include "inquiry.h"

#include "read/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MOST ((uint64_t)64 << 20)

struct inquiry {
  pid_t recorder;
  int socket, said; /* said: what the recorder has complained of */
  struct question_state *state;
  bool asked, ended;
  struct inquiry_answer head;
  size_t got; /* of the head, and of what is behind it */
  char *text;
};

/* -- the process that records ------------------------------------------------------------------ */

/* Nothing of ours but the socket: no terminal, no client that would wait for it to close. */
static void leave_all(int socket, int said) {
  enum { KEPT = 3 };
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(said, STDERR_FILENO);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(socket, KEPT);
  if (syscall(SYS_close_range, KEPT + 1, ~0u, 0) == 0)
    return;
  for (long fd = sysconf(_SC_OPEN_MAX); fd > KEPT; fd--)
    close((int)fd);
}

/* Who looks on decides when it ends: what the terminal sends is meant for that one. */
static void leave_signals(void) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
  for (int number = 1; number < NSIG; number++)
    signal(number, SIG_DFL);
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    signal(ignored[i], SIG_IGN);
}

static bool start(struct inquiry *q, long pid, const struct inquiry_way *way) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    return false;
  fflush(NULL);
  q->recorder = fork();
  if (q->recorder == 0) {
    leave_signals();
    leave_all(ends[1], q->said);
    complain_never(false);
    if (way->place)
      inquiry_probe(pid, STDERR_FILENO + 1, way->place);
    inquiry_record(pid, STDERR_FILENO + 1, way->samples, q->state);
  }
  close(ends[1]);
  q->socket = ends[0];
  return q->recorder > 0 && fcntl(q->socket, F_SETFL, O_NONBLOCK) == 0;
}

struct inquiry *inquiry_begin(long pid, const struct inquiry_way *way) {
  struct inquiry *q = allocate(1, sizeof *q);
  q->recorder = -1;
  q->socket = -1;
  q->said = memfd_create("aprof-said", MFD_CLOEXEC);
  q->state =
      mmap(NULL, sizeof *q->state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (q->said >= 0 && q->state != MAP_FAILED && start(q, pid, way))
    return q;
  complain("cannot record: %s", strerror(errno));
  inquiry_end(q);
  return NULL;
}

void inquiry_end(struct inquiry *q) {
  if (!q)
    return;
  if (q->socket >= 0)
    close(q->socket);
  while (q->recorder > 0 && waitpid(q->recorder, NULL, 0) < 0 && errno == EINTR)
    ;
  if (q->said >= 0)
    close(q->said);
  if (q->state != MAP_FAILED)
    munmap(q->state, sizeof *q->state);
  free(q->text);
  free(q);
}

/* -- questions and answers ------------------------------------------------------------------ */

void inquiry_ask(struct inquiry *q, const struct question *what, const struct question_about *about,
                 bool json) {
  struct inquiry_asked asked = {.question = what ? (uint32_t)(what - questions) : 0,
                                .json = json,
                                .of_kind = about->kind != NULL,
                                .of_function = about->function != NULL};
  if (about->kind)
    strncpy(asked.kind, about->kind, sizeof asked.kind - 1);
  if (about->function)
    strncpy(asked.function, about->function, sizeof asked.function - 1);
  /* There is room for one, and whoever does not take it has ended. */
  ssize_t sent = send(q->socket, &asked, sizeof asked, MSG_NOSIGNAL);
  q->asked = sent == (ssize_t)sizeof asked;
}

bool inquiry_is_asked(const struct inquiry *q) {
  return q->asked;
}

int inquiry_fd(const struct inquiry *q) {
  return q->socket;
}

const struct question_state *inquiry_state(const struct inquiry *q) {
  return q->state;
}

/* 1: all of it; 0: not yet; -1: no more comes. */
static int take(struct inquiry *q, void *to, size_t from, size_t size) {
  while (q->got < from + size) {
    ssize_t some = read(q->socket, (char *)to + (q->got - from), from + size - q->got);
    if (some > 0)
      q->got += (size_t)some;
    else if (some == 0 || (errno != EINTR && errno != EAGAIN))
      return -1;
    else if (errno == EAGAIN)
      return 0;
  }
  return 1;
}

/* The last line that it has written, without what stands before all of them. */
static char *last_words(const struct inquiry *q) {
  static const char name[] = "aprof: ";
  char text[1024];
  ssize_t length = pread(q->said, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  size_t end = strlen(text);
  while (end && text[end - 1] == '\n')
    text[--end] = 0;
  char *line = strrchr(text, '\n');
  line = line ? line + 1 : text;
  line += strncmp(line, name, sizeof name - 1) ? 0 : sizeof name - 1;
  return print_string("%s", *line ? line : "who recorded has ended");
}

enum inquiry_came inquiry_take(struct inquiry *q, char **text, size_t *length) {
  int whole = q->ended ? -1 : take(q, &q->head, 0, sizeof q->head);
  if (whole > 0 && !q->text && q->head.length <= ANSWER_MOST)
    q->text = allocate(q->head.length + 1, 1);
  if (whole > 0)
    whole = q->text ? take(q, q->text, sizeof q->head, q->head.length) : -1;
  if (whole == 0 || q->ended)
    return INQUIRY_NOTHING;
  *text = q->text;
  *length = q->head.length;
  q->text = NULL;
  q->got = 0;
  q->asked = false;
  if (whole > 0)
    return q->head.refused ? INQUIRY_REFUSED : INQUIRY_ANSWER;
  free(*text);
  *text = last_words(q);
  *length = strlen(*text);
  q->ended = true;
  return INQUIRY_OVER;
}
