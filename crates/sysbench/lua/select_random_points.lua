-- Rows with any of a list of values in the indexed column; each thread draws from its own part of the values.
require("oltp_common")

sysbench.cmdline.options.random_points = { "Number of random points in the IN() clause in generated SELECTs", 10 }

function prepare_statements()
  part = sysbench.opt.table_size / sysbench.opt.threads
  local count = sysbench.opt.random_points
  local marks = string.rep("?", count, ", ")
  stmt = { points = con:prepare(string.format("SELECT id, k, c, pad FROM sbtest1 WHERE k IN (%s)", marks)) }
  param = {}
  for i = 1, count do
    param[i] = stmt.points:bind_create(sysbench.sql.type.INT)
  end
  stmt.points:bind_param(unpack(param))
end

function event(thread_id)
  local from = part * thread_id
  for i = 1, #param do
    param[i]:set(sysbench.rand.default(from, from + part))
  end
  stmt.points:execute()
  check_reconnect()
end
