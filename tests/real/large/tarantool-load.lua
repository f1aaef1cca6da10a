-- SPDX-License-Identifier: MIT
-- tarantool tarantool-load.lua SECONDS: 40 fibers that write, call over the network, yield and
-- make others that sleep, in a new directory. Prints how often each fiber was switched away from,
-- as Tarantool counts (csw), and its own statistics of requests.
local fiber, netbox, clock = require('fiber'), require('net.box'), require('clock')
local seconds = tonumber(arg[1])
box.cfg{listen = '127.0.0.1:3399', wal_mode = 'write', feedback_enabled = false, log = 'tnt.log',
        work_dir = '.'}
box.schema.user.grant('guest', 'super', nil, nil, {if_not_exists = true})
local s = box.schema.space.create('t', {if_not_exists = true})
s:create_index('pk', {if_not_exists = true})
function echo(x) return x end
local c = netbox.connect('127.0.0.1:3399')
local N, ended, rounds, csw = 40, fiber.channel(100), 0, 0
local deadline = clock.monotonic() + seconds
local function worker(i)
  while clock.monotonic() < deadline do
    s:replace{i, rounds}
    assert(c:call('echo', {i}) == i)
    for k = 1, 10 do fiber.yield() end
    fiber.create(function() fiber.sleep(0.001) end)
    rounds = rounds + 1
  end
  ended:put(fiber.info()[fiber.self():id()].csw)
end
for i = 1, N do fiber.create(worker, i) end
for i = 1, N do csw = csw + ended:get() end
fiber.sleep(0.1)
print('workers', N, 'rounds', rounds, 'csw of workers', csw)
for id, f in pairs(fiber.info()) do print('live', id, f.name, f.csw) end
for name, v in pairs(box.stat()) do
  if v.total > 0 then print('stat', name, v.total) end
end
os.exit(0)
