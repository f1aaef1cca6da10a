-- SPDX-License-Identifier: MIT
-- Finished requests in ClickHouse: the table that `aprof export --to clickhouse' has the rows of, and
-- ten questions about a fleet, which grafana/clickhouse.json asks, too. aprof-export(1) says how rows
-- come here, and aprof-serve(1) how they do so as time goes on:
--
--   clickhouse-client --multiquery < clickhouse.sql
--   aprof export --to clickhouse --push http://localhost:8123 shop.trace
--
-- A row that is sent twice, as when an answer was lost on its way, replaces itself when its part is
-- merged: who cannot wait for that says FINAL behind the table's name.

CREATE TABLE IF NOT EXISTS aprof_requests (
  begin_ns UInt64,                                                  -- since 1970
  begin DateTime MATERIALIZED toDateTime(intDiv(begin_ns, 1000000000)),
  date Date MATERIALIZED toDate(begin),
  host String,
  process String,
  pid Int64,
  build String,                                                     -- build-id; '': not known
  request UInt64,                                                   -- its number in the process
  kind String,
  function String,                                                  -- it began with
  wall_ns UInt64,
  queued_ns UInt64,                                                 -- these three: of all its futures
  exec_ns UInt64,
  waiting_ns UInt64,
  failed UInt8,
  trace String,                                                     -- W3C trace and span; '': none
  span String,
  tier Nested(name String, exec_ns UInt64, waiting_ns UInt64)       -- that it was in
) ENGINE = ReplacingMergeTree()
PARTITION BY date
ORDER BY (process, kind, begin_ns, host, pid, request);

-- 1. Which kinds take the most time, and how long do they take?
SELECT process, kind, count() AS requests, sum(wall_ns) / 1e9 AS seconds,
  quantile(0.5)(wall_ns) / 1e6 AS p50_ms, quantile(0.95)(wall_ns) / 1e6 AS p95_ms,
  quantile(0.99)(wall_ns) / 1e6 AS p99_ms, max(wall_ns) / 1e6 AS max_ms
FROM aprof_requests GROUP BY process, kind ORDER BY seconds DESC;

-- 2. Do they run, wait, or stand in a queue? Shares of what all their futures took.
SELECT process, kind, sum(exec_ns + queued_ns + waiting_ns) AS all_ns,
  sum(exec_ns) / all_ns AS running, sum(queued_ns) / all_ns AS queued, sum(waiting_ns) / all_ns AS waiting
FROM aprof_requests GROUP BY process, kind HAVING all_ns > 0 ORDER BY all_ns DESC;

-- 3. In which tier, for one request on average? Those that were not in it count with nothing.
SELECT process, kind, name, sum(exec) / requests / 1e6 AS exec_ms, sum(waiting) / requests / 1e6 AS waiting_ms
FROM (
  SELECT process, kind, name, exec, waiting FROM aprof_requests
  ARRAY JOIN tier.name AS name, tier.exec_ns AS exec, tier.waiting_ns AS waiting
) ANY INNER JOIN (
  SELECT process, kind, count() AS requests FROM aprof_requests GROUP BY process, kind
) USING (process, kind)
GROUP BY process, kind, name, requests ORDER BY exec_ms + waiting_ms DESC;

-- 4. Which were the slowest, and what is the trace of each?
SELECT begin, host, process, pid, kind, wall_ns / 1e6 AS wall_ms, queued_ns / 1e6 AS queued_ms,
  exec_ns / 1e6 AS exec_ms, waiting_ns / 1e6 AS waiting_ms, failed, trace
FROM aprof_requests ORDER BY wall_ns DESC LIMIT 20;

-- 5. Which host is slower than the others at the same work?
SELECT process, kind, host, count() AS requests, quantile(0.95)(wall_ns) / 1e6 AS p95_ms, any(usual_ms) AS usual_ms,
  p95_ms / usual_ms AS times
FROM aprof_requests ANY INNER JOIN (
  SELECT process, kind, quantile(0.95)(wall_ns) / 1e6 AS usual_ms FROM aprof_requests GROUP BY process, kind
) USING (process, kind)
GROUP BY process, kind, host ORDER BY times DESC;

-- 6. Did a build make it slower?
SELECT process, kind, build, min(begin) AS since, count() AS requests, avg(exec_ns) / 1e6 AS exec_ms,
  quantile(0.5)(wall_ns) / 1e6 AS p50_ms, quantile(0.95)(wall_ns) / 1e6 AS p95_ms
FROM aprof_requests GROUP BY process, kind, build ORDER BY process, kind, since;

-- 7. What is different inside the slowest 5 %? Means of the slow ones less those of the rest. (Which
-- await it is: aprof tail.)
SELECT process, kind, countIf(wall_ns >= limit_ns) AS slow,
  (avgIf(queued_ns, wall_ns >= limit_ns) - avgIf(queued_ns, wall_ns < limit_ns)) / 1e6 AS queued_more_ms,
  (avgIf(exec_ns, wall_ns >= limit_ns) - avgIf(exec_ns, wall_ns < limit_ns)) / 1e6 AS exec_more_ms,
  (avgIf(waiting_ns, wall_ns >= limit_ns) - avgIf(waiting_ns, wall_ns < limit_ns)) / 1e6 AS waiting_more_ms
FROM aprof_requests ANY INNER JOIN (
  SELECT process, kind, quantileExact(0.95)(wall_ns) AS limit_ns FROM aprof_requests GROUP BY process, kind
) USING (process, kind)
GROUP BY process, kind HAVING slow < count() ORDER BY slow DESC;

-- 8. What fails, how often, and is it slower where it fails?
SELECT process, kind, sum(failed) AS failures, failures / count() AS share,
  avgIf(wall_ns, failed = 1) / 1e6 AS failed_ms, avgIf(wall_ns, failed = 0) / 1e6 AS other_ms
FROM aprof_requests GROUP BY process, kind HAVING failures > 0 ORDER BY failures DESC;

-- 9. When were loops too busy? Time in queues by minute and process.
SELECT toStartOfMinute(begin) AS minute, host, process, pid, count() AS requests,
  sum(queued_ns) / count() / 1e6 AS queued_ms, sum(exec_ns) / 1e9 AS ran_s
FROM aprof_requests GROUP BY minute, host, process, pid ORDER BY queued_ms DESC LIMIT 60;

-- 10. Where does a request spend its time that goes through several processes?
SELECT trace, count() AS parts, groupUniqArray(process) AS processes, max(wall_ns) / 1e6 AS wall_ms,
  sum(exec_ns) / 1e6 AS exec_ms, sum(queued_ns) / 1e6 AS queued_ms
FROM aprof_requests WHERE trace != '' GROUP BY trace ORDER BY wall_ms DESC LIMIT 20;
