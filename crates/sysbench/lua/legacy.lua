-- Functions of sysbench 0.5 and 1.0 that scripts of that time call as globals: one connection for each thread, errors by
-- number, values of statements in a table.
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2

mysql_table_engine = "innodb"
myisam_max_rows = 1000000

local rand = sysbench.rand
sb_rand, sb_rand_uniform, sb_rand_gaussian, sb_rand_special = rand.default, rand.uniform, rand.gaussian, rand.special
sb_rand_str = rand.string

function sb_rand_uniq(a, b)
  local value = rand.unique()
  if a == nil then
    return value
  end
  b = b or 4294967295
  while value < a or value > b do
    value = rand.unique()
  end
  return value
end

function sb_rnd()
  return tonumber(rand.uniform_uint64() % 4294967296ULL)
end

local con
local params = setmetatable({}, { __mode = "k" })

function db_connect()
  local driver = sysbench.sql.driver()
  con = driver:connect()
  db_driver = driver:name()
end

function db_disconnect()
  if con then
    con:disconnect()
    con = nil
  end
end

local function connected()
  if not con then
    db_connect()
  end
  return con
end

-- Errors that are lived with keep their table, others have the name of the function.
local function legacy(name, ok, failure)
  if ok then
    return failure
  end
  if type(failure) == "table" and failure.errcode == sysbench.error.RESTART_EVENT then
    error(failure, 0)
  end
  error(name .. "() failed", 3)
end

function db_query(query)
  local rs = legacy("db_query", pcall(connected().query, connected(), query))
  if rs ~= nil then
    rs:free()
  end
end

function db_bulk_insert_init(query)
  legacy("db_bulk_insert_init", pcall(connected().bulk_insert_init, connected(), query))
end

function db_bulk_insert_next(row)
  legacy("db_bulk_insert_next", pcall(connected().bulk_insert_next, connected(), row))
end

function db_bulk_insert_done()
  legacy("db_bulk_insert_done", pcall(connected().bulk_insert_done, connected()))
end

function db_prepare(query)
  return legacy("db_prepare", pcall(connected().prepare, connected(), query))
end

-- The types are those that the values have now; their values are read when the statement is executed.
function db_bind_param(stmt, values)
  local bound = { values = values }
  for i, value in ipairs(values) do
    if type(value) == "number" then
      bound[i] = stmt:bind_create(sysbench.sql.type.INT)
    else
      bound[i] = stmt:bind_create(sysbench.sql.type.CHAR, math.max(#tostring(value), 1))
    end
  end
  params[stmt] = bound
  stmt:bind_param(unpack(bound))
end

function db_bind_result() end

function db_execute(stmt)
  local bound = params[stmt]
  for i, param in ipairs(bound or {}) do
    param:set(bound.values[i])
  end
  local rs = legacy("db_execute", pcall(stmt.execute, stmt))
  return rs ~= nil and rs or nil
end

function db_store_results(rs)
  return rs
end

function db_free_results(rs)
  if rs ~= nil then
    rs:free()
  end
end

function db_close(stmt)
  if params[stmt] then
    params[stmt] = nil
  end
  stmt:close()
end

sysbench.db = {
  connect = db_connect, disconnect = db_disconnect, query = db_query, bulk_insert_init = db_bulk_insert_init,
  bulk_insert_next = db_bulk_insert_next, bulk_insert_done = db_bulk_insert_done, prepare = db_prepare,
  bind_param = db_bind_param, bind_result = db_bind_result, execute = db_execute, store_results = db_store_results,
  free_results = db_free_results, close = db_close, DB_ERROR_NONE = DB_ERROR_NONE,
  DB_ERROR_RESTART_TRANSACTION = DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = DB_ERROR_FAILED,
}
