/* SPDX-License-Identifier: MIT */
/*
 * Answers: what each of them says of itself, whatever is in it.
 *
 * Purpose: nothing is kept by a browser or on the way, nothing is run that is not ours, no page of
 * others frames or reads it. Cost: that of MHD. Locking: none.
 */
#ifndef APROF_CLI_SERVE_ANSWER_H
#define APROF_CLI_SERVE_ANSWER_H

#include "serve-document.h"

#include <microhttpd.h>

/* Scripts of the page are let in by the page itself. */
enum answer_policy { POLICY_NOTHING, POLICY_FORM, POLICY_PAGE };

#define MEDIA_TEXT "text/plain; charset=utf-8"
#define MEDIA_HTML "text/html; charset=utf-8"
#define MEDIA_JSON "application/json"

/* Takes the response. */
enum MHD_Result answer_response(struct MHD_Connection *, unsigned status, const char *media,
                                enum answer_policy, struct MHD_Response *);
/* The client takes it packed. */
bool answer_may_be_packed(struct MHD_Connection *);
/* Takes what is held of the document. */
enum MHD_Result answer_document(struct MHD_Connection *, unsigned status, const char *media,
                                enum answer_policy, struct document *);
/* One sentence; `sentence` is copied. `allowed`: the methods, of a 405; or NULL. */
enum MHD_Result answer_sentence(struct MHD_Connection *, unsigned status, const char *sentence,
                                const char *allowed);
/* Sends a browser to the page, with the cookie. */
enum MHD_Result answer_welcome(struct MHD_Connection *, const char *cookie);

#endif
