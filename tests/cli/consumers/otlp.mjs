// SPDX-License-Identifier: MIT
// OpenTelemetry's own decoder: otlp.mjs NODE_MODULES FILE prints how many requests there are, the sums of
// what these ran, were queued and waited, the sums of waits and of queueing as spans, how many other
// spans, and how many have no parent in their trace though they name one of this process. FILE is
// protobuf, or lines of JSON (*.json).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, file] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const root = require(`${modules}/@opentelemetry/otlp-transformer/build/src/generated/root.js`);
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

// Ids are hexadecimal in OTLP's JSON, unlike in protobuf's.
const ids = ["traceId", "spanId", "parentSpanId"];
const revived = (name, value) => (name === "flags" ? undefined : ids.includes(name) ? Buffer.from(value, "hex").toString("base64") : value);
const messages = file.endsWith(".json")
  ? readFileSync(file, "utf8").trimEnd().split("\n").map((line) => {
      const object = JSON.parse(line, revived);
      const message = Request.fromObject(object);
      // What was not understood would be missing here; flags are younger than this decoder.
      const again = Request.toObject(message, { longs: String, bytes: String });
      if (JSON.stringify(sorted(again)) !== JSON.stringify(sorted(object))) throw new Error("members it does not know");
      return message;
    })
  : [Request.decode(readFileSync(file))];

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const value = (span, key) => {
  const found = span.attributes.find((a) => a.key === key)?.value;
  return found && (found.stringValue || BigInt(found.intValue.toString()));
};
const length = (span) => BigInt(span.endTimeUnixNano.toString()) - BigInt(span.startTimeUnixNano.toString());
const sum = { requests: 0, exec: 0n, queued: 0n, waiting: 0n, waits: 0n, queues: 0n, others: 0, lost: 0 };
for (const message of messages)
  for (const { resource, scopeSpans } of message.resourceSpans) {
    if (!resource.attributes.some((a) => a.key === "service.name")) throw new Error("no service");
    const spans = scopeSpans.flatMap((s) => s.spans);
    const known = new Set(spans.map((s) => hex(s.traceId) + hex(s.spanId)));
    if (known.size !== spans.length) throw new Error("ids twice");
    for (const span of spans) {
      if (span.traceId.length !== 16 || span.spanId.length !== 8) throw new Error("ids of odd lengths");
      if (span.kind === 2) {
        sum.requests++;
        for (const name of ["exec", "queued", "waiting"]) sum[name] += value(span, `aprof.${name}_ns`);
        continue;
      }
      sum.others++;
      if (!known.has(hex(span.traceId) + hex(span.parentSpanId))) sum.lost++;
      if (value(span, "aprof.state") === "waiting") sum.waits += length(span);
      if (value(span, "aprof.state") === "queued") sum.queues += length(span);
    }
  }
console.log(Object.values(sum).join(" "));
