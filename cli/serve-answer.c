/* SPDX-License-Identifier: MIT */
/* Answers; see serve-answer.h. */
#include "serve-answer.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* What a page may load and run its own policy says, which names its scripts. */
static const char *const policies[] = {
    [POLICY_NOTHING] = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    [POLICY_FORM] = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; "
                    "base-uri 'none'",
    [POLICY_PAGE] = "connect-src 'self'; object-src 'none'; form-action 'none'; "
                    "frame-ancestors 'none'; base-uri 'none'"};

enum MHD_Result answer_response(struct MHD_Connection *connection, unsigned status,
                                const char *media, enum answer_policy policy,
                                struct MHD_Response *response) {
  static const char *const always[][2] = {{"Cache-Control", "no-store"},
                                          {"X-Content-Type-Options", "nosniff"},
                                          {"Referrer-Policy", "same-origin"},
                                          {"Cross-Origin-Resource-Policy", "same-origin"},
                                          {"Cross-Origin-Opener-Policy", "same-origin"}};
  if (!response)
    return MHD_NO;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    MHD_add_response_header(response, always[i][0], always[i][1]);
  MHD_add_response_header(response, "Content-Security-Policy", policies[policy]);
  if (media)
    MHD_add_response_header(response, "Content-Type", media);
  if (status == MHD_HTTP_UNAUTHORIZED)
    MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"aprof\"");
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

/* Less gains nothing. */
enum { LEAST_TO_PACK = 1000 };

/* "gzip", in a list, and not as "gzip;q=0". */
bool answer_may_be_packed(struct MHD_Connection *connection) {
  const char *accept =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
  const char *at = accept ? strstr(accept, "gzip") : NULL;
  size_t length = at ? strcspn(at, ",") : 0;
  return at && !(length > 7 && !strncmp(at + 4, ";q=0", 4) && strspn(at + 7, "0.") == length - 7);
}

static void add_left_out(struct MHD_Response *response, size_t left_out) {
  char number[32];
  snprintf(number, sizeof number, "%zu", left_out);
  if (left_out)
    MHD_add_response_header(response, "Aprof-Left-Out", number);
}

enum MHD_Result answer_document(struct MHD_Connection *connection, unsigned status,
                                const char *media, enum answer_policy policy,
                                struct document *document) {
  bool wanted = document->length >= LEAST_TO_PACK && answer_may_be_packed(connection);
  struct document *packed = wanted ? document_packed(document) : NULL;
  const struct document *sent = packed ? packed : document;
  struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
      sent->length, sent->bytes, document_release, document);
  if (!response)
    document_release(document);
  else {
    MHD_add_response_header(response, "Vary", "Accept-Encoding");
    add_left_out(response, document->left_out);
    if (packed)
      MHD_add_response_header(response, "Content-Encoding", "gzip");
  }
  return answer_response(connection, status, media, policy, response);
}

enum MHD_Result answer_sentence(struct MHD_Connection *connection, unsigned status,
                                const char *sentence, const char *allowed) {
  char *line = print_string("%s\n", sentence);
  struct MHD_Response *response =
      MHD_create_response_from_buffer(strlen(line), line, MHD_RESPMEM_MUST_FREE);
  if (response && allowed)
    MHD_add_response_header(response, "Allow", allowed);
  if (!response)
    free(line);
  return answer_response(connection, status, MEDIA_TEXT, POLICY_NOTHING, response);
}

enum MHD_Result answer_welcome(struct MHD_Connection *connection, const char *cookie) {
  struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
  if (response) {
    MHD_add_response_header(response, "Location", "/");
    MHD_add_response_header(response, "Set-Cookie", cookie);
  }
  return answer_response(connection, MHD_HTTP_SEE_OTHER, NULL, POLICY_NOTHING, response);
}
