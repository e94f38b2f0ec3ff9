-- Counts rows with a value within any of several ranges in the indexed column; each thread draws from its own part of the
-- values.
require("oltp_common")

sysbench.cmdline.options.number_of_ranges = { "Number of random BETWEEN ranges per SELECT", 10 }
sysbench.cmdline.options.delta = { "Size of BETWEEN ranges", 5 }

function prepare_statements()
  part = sysbench.opt.table_size / sysbench.opt.threads
  local count = sysbench.opt.number_of_ranges
  local ranges = string.rep("k BETWEEN ? AND ?", count, " OR ")
  stmt = { ranges = con:prepare("SELECT count(k) FROM sbtest1 WHERE " .. ranges) }
  param = {}
  for i = 1, 2 * count do
    param[i] = stmt.ranges:bind_create(sysbench.sql.type.INT)
  end
  stmt.ranges:bind_param(unpack(param))
end

function event(thread_id)
  local from = part * thread_id
  for i = 1, #param, 2 do
    local low = sysbench.rand.default(from, from + part)
    param[i]:set(low)
    param[i + 1]:set(low + sysbench.opt.delta)
  end
  stmt.ranges:execute()
  check_reconnect()
end
