/* SPDX-License-Identifier: MIT */
/* Events of requests and spans: the gate has them; so far they do nothing. */
#include "request.h"

#include "gates.h"

void general_span_begin(struct aprof_site *site, struct aprof_token *token) {
  (void)site;
  (void)token;
}

void general_span_end(struct aprof_token *token) {
  (void)token;
}

void general_label(struct aprof_site *site, uint64_t key0, uint64_t key1, int type, uint64_t value,
                   uint64_t length) {
  (void)site;
  (void)key0;
  (void)key1;
  (void)type;
  (void)value;
  (void)length;
}

void general_label_current(struct aprof_site *site, int type, uint64_t value, uint64_t length) {
  (void)site;
  (void)type;
  (void)value;
  (void)length;
}

void general_about(struct aprof_token *token, int what, int type, uint64_t value, uint64_t length) {
  (void)token;
  (void)what;
  (void)type;
  (void)value;
  (void)length;
}

void general_run_for(struct aprof_token *token, uint64_t ns, uint64_t key0, uint64_t key1) {
  (void)token;
  (void)ns;
  (void)key0;
  (void)key1;
}

void general_token_out(char *buffer) {
  buffer[0] = 0;
}

int api_label(const char *text) {
  (void)text;
  return -1;
}

int api_token(char *buffer) {
  buffer[0] = 0;
  return -1;
}

int api_token_set(const char *traceparent) {
  (void)traceparent;
  return -1;
}

int api_totals(aprof_totals_callback callback, void *arg) {
  (void)callback;
  (void)arg;
  return -1;
}
