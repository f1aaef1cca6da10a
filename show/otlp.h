/* SPDX-License-Identifier: MIT */
/*
 * Messages of OpenTelemetry's protocol, as JSON.
 *
 * In: a message of otlp.proto. Out: the JSON that its specification wants of the same: names in
 * camel case, numbers of 64 bits as texts, ids in hexadecimal, nothing for what is not set.
 * Cost: linear. Locking: none.
 */
#ifndef APROF_SHOW_OTLP_H
#define APROF_SHOW_OTLP_H

#include "emit.h"

#include <protobuf-c/protobuf-c.h>

/* The members of the message, into the object that is open. */
void otlp_members(struct emit *, const ProtobufCMessage *);

/* How many it did not take, as a collector's JSON answer says in that member of partialSuccess; 0
   of any other answer. */
uint64_t otlp_rejected(const char *answer, size_t length, const char *member);

#endif
