-- SPDX-License-Identifier: MIT
-- Load for the HTTP server, for wrk: every route in turn.
--   wrk -t1 -c16 -d5 -s load.lua http://127.0.0.1:PORT
-- LOAD_PAUSE=MS in the environment: each connection rests so long before a request.

local body = string.rep("0123456789abcdef", 1024)
local requests = {}
local next_request = 0

init = function()
  requests = {
    wrk.format("GET", "/hello"),
    wrk.format("GET", "/delay?ms=5"),
    wrk.format("GET", "/file/page.txt"),
    wrk.format("GET", "/quota"),
    wrk.format("POST", "/upload", nil, body),
  }
end

request = function()
  next_request = next_request % #requests + 1
  return requests[next_request]
end

local pause = tonumber(os.getenv("LOAD_PAUSE") or "")
if pause then
  delay = function() return pause end
end

done = function(summary)
  local e = summary.errors
  io.write(string.format("%d requests, %d errors\n", summary.requests,
                         e.connect + e.read + e.write + e.status + e.timeout))
end
