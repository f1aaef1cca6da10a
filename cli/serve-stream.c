/* SPDX-License-Identifier: MIT */
/* Events; see serve-stream.h. */
#include "serve-stream.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

#define SECOND ((int64_t)1000000000)
/* Documents are that far apart at least, in times of what one costs; bytes sent at once. */
enum { APART = 10, BLOCK = 32 * 1024 };

struct stream {
  struct stream *next;
  struct feed *feed;
  struct MHD_Connection *connection;
  struct document *document; /* on its way; NULL: none is */
  const char *bytes;         /* of it, or of what is around it; NULL: all was sent */
  size_t length, at;
  uint64_t seen;
  bool sleeps, packed, ended;
  struct packing packing;
  char end[PACKED_END];
};

struct feed {
  struct feed *next;
  struct feed_key key;
  struct stream *stream;
  struct streams *all;
  struct document *newest; /* as events are written */
  uint64_t number, moved;
  int64_t due; /* monotonic ns */
  bool last;
};

/* -- documents as events ----------------------------------------------------------------- */

struct making {
  struct feed *feed;
  feed_writer *write;
  void *context;
};

/* A line of an event each. */
static void write_lines(const char *text, FILE *out) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    fprintf(out, "data: %.*s\n", (int)length, text);
    text += length + (text[length] == '\n');
  }
}

static bool write_event(void *context, FILE *out) {
  struct making *m = context;
  struct feed *f = m->feed;
  char *text = NULL;
  size_t length = 0;
  FILE *whole = open_memstream(&text, &length);
  bool written = whole && m->write(m->context, &f->key, &f->moved, &f->last, whole);
  written = whole && !fclose(whole) && written;
  if (written) {
    fputs("event: document\n", out);
    write_lines(text, out);
    fputs("\n", out);
  }
  if (f->last)
    fputs("event: ended\ndata: \n\n", out);
  free(text);
  return written || f->last;
}

static void wake(struct feed *f) {
  for (struct stream *s = f->stream; s; s = s->next)
    if (s->sleeps) {
      s->sleeps = false;
      MHD_resume_connection(s->connection);
    }
}

static void make(struct feed *f, feed_writer *write, void *context) {
  int64_t begin = monotonic_now();
  struct document *made = document_make(write_event, &(struct making){f, write, context});
  int64_t cost = monotonic_now() - begin;
  f->due = begin + (APART * cost > SECOND ? APART * cost : SECOND);
  if (!made)
    return;
  document_release(f->newest);
  f->newest = made;
  f->number++;
  wake(f);
}

void streams_tick(struct streams *all, feed_writer *write, void *context) {
  int64_t now = monotonic_now();
  for (struct feed *f = all->first; f; f = f->next)
    if (!f->last && now >= f->due)
      make(f, write, context);
}

int streams_wait(const struct streams *all) {
  int64_t now = monotonic_now(), least = INT64_MAX;
  for (const struct feed *f = all->first; f; f = f->next)
    if (!f->last && f->due < least)
      least = f->due;
  return least == INT64_MAX ? -1 : least <= now ? 0 : (int)((least - now) / 1000000 + 1);
}

void streams_end(struct streams *all) {
  all->ending = true;
  for (struct feed *f = all->first; f; f = f->next)
    wake(f);
}

/* -- who listens --------------------------------------------------------------------------- */

static struct feed *feed_of(struct streams *all, const struct feed_key *key) {
  for (struct feed *f = all->first; f; f = f->next)
    if (feed_same(&f->key, key) && !f->last)
      return f;
  struct feed *f = allocate(1, sizeof *f);
  *f = (struct feed){.next = all->first, .key = *key, .all = all};
  return all->first = f;
}

static void drop_feed(struct feed *f) {
  struct feed **at = &f->all->first;
  while (*at != f)
    at = &(*at)->next;
  *at = f->next;
  document_release(f->newest);
  free(f);
}

static void send_next(struct stream *s, const char *bytes, size_t length) {
  s->bytes = bytes;
  s->length = length;
  s->at = 0;
}

/* Takes up what is newest; false: there is nothing new. */
static bool take(struct stream *s) {
  if (s->seen == s->feed->number)
    return false;
  /* One that cannot be packed is missed. */
  struct document *packed = s->packed ? document_packed(s->feed->newest) : NULL;
  s->document = document_hold(s->feed->newest);
  s->seen = s->feed->number;
  if (packed) {
    packing_add(&s->packing, packed);
    send_next(s, packed->bytes + PACKED_HEAD, packed->length - PACKED_HEAD - PACKED_END);
  } else
    send_next(s, s->document->bytes, s->packed ? 0 : s->document->length);
  client_becomes(client_of(s->connection), CLIENT_LISTENS);
  return true;
}

/* What ends a packed stream; false: that was sent, too. */
static bool take_end(struct stream *s) {
  if (!s->packed || s->ended)
    return false;
  s->ended = true;
  packing_end(&s->packing, s->end);
  send_next(s, s->end, PACKED_END);
  return true;
}

static ssize_t read_stream_of(void *context, uint64_t position, char *to, size_t most) {
  struct stream *s = context;
  (void)position;
  bool over = s->feed->last || s->feed->all->ending;
  if (!s->bytes && !(!s->ended && take(s)) && !(over && take_end(s))) {
    if (over)
      return MHD_CONTENT_READER_END_OF_STREAM;
    s->sleeps = true;
    MHD_suspend_connection(s->connection);
    return 0;
  }
  size_t left = s->length - s->at, length = left < most ? left : most;
  memcpy(to, s->bytes + s->at, length);
  s->at += length;
  if (s->at == s->length) {
    s->bytes = NULL;
    document_release(s->document);
    s->document = NULL;
  }
  return (ssize_t)length;
}

static void close_stream(void *context) {
  struct stream *s = context, **at = &s->feed->stream;
  while (*at != s)
    at = &(*at)->next;
  *at = s->next;
  if (!s->feed->stream)
    drop_feed(s->feed);
  document_release(s->document);
  free(s);
}

struct MHD_Response *stream_open(struct streams *all, struct MHD_Connection *connection,
                                 const struct feed_key *key, bool packed) {
  struct stream *s = allocate(1, sizeof *s);
  s->feed = feed_of(all, key);
  s->packed = packed;
  if (packed)
    send_next(s, packing_head(), PACKED_HEAD);
  s->connection = connection;
  s->next = s->feed->stream;
  s->feed->stream = s;
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream_of, s, close_stream);
  if (!response)
    close_stream(s);
  else if (packed)
    MHD_add_response_header(response, "Content-Encoding", "gzip");
  return response;
}
