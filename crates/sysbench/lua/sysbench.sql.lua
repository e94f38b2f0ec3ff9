-- sysbench.sql: drivers, connections, results, statements, parameters.
local C = ffi.C
local NONE, IGNORABLE = 0, 1
local CHAR, VARCHAR, FLOAT, DOUBLE = 11, 12, 5, 6

local sql = {
  type = {
    NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8, DATETIME = 9,
    TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
  },
  error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
}
sysbench.sql = sql

local driver_t = ffi.typeof("sql_driver *")
local connection_t = ffi.typeof("sql_connection *")
local statement_t = ffi.typeof("sql_statement *")
local result_t = ffi.typeof("sql_result *")
local bind_t = ffi.typeof("sql_bind *")
local binds_t = ffi.typeof("sql_bind *[?]")

-- Only what is a pointer to one of ours is looked behind.
local function check(kind, name, value)
  if not ffi.istype(kind, value) or value == nil then
    error(name .. " expected, got " .. (value == nil and "nil" or tostring(value)), 3)
  end
end

local function text_of(pointer)
  return pointer == nil and "" or ffi.string(pointer)
end

-- An error that a script may catch, or that ends the run. Levels count from the function that the script called.
local function raise(con, query, level)
  local errno = con.sql_errno
  if errno == 0 then
    error("SQL API error", level + 1)
  end
  local errdesc = {
    connection = con,
    query = query,
    sql_errno = errno,
    sql_state = text_of(con.sql_state),
    sql_errmsg = text_of(con.sql_errmsg),
  }
  local hook = sysbench.hooks.sql_error_ignorable
  if tonumber(con.error) == IGNORABLE or (hook and hook(errdesc)) then
    errdesc.errcode = sysbench.error.RESTART_EVENT
    error(errdesc, 0)
  end
  error(string.format("SQL error, errno = %d, state = '%s': %s", errno, errdesc.sql_state, errdesc.sql_errmsg), level + 1)
end

local driver = {}
driver.__index = driver
driver.__tostring = function() return "<sql_driver>" end

function sql.driver(name)
  if name ~= nil and type(name) ~= "string" then
    error("sysbench.sql.driver: a name expected, got " .. type(name), 2)
  end
  local found = C.db_create(name)
  if found == nil then
    error("failed to initialize the DB driver", 2)
  end
  return found
end

function driver:connect()
  check(driver_t, "driver", self)
  local con = C.db_connection_create(self)
  if con == nil then
    error("connection creation failed", 2)
  end
  return ffi.gc(con, C.db_connection_free)
end

function driver:name()
  check(driver_t, "driver", self)
  return text_of(self.sname)
end

local connection = {}
connection.__index = connection
connection.__tostring = function() return "<sql_connection>" end

function connection:disconnect()
  check(connection_t, "connection", self)
  C.db_connection_close(self)
end

function connection:reconnect()
  check(connection_t, "connection", self)
  if not C.db_connection_reconnect(self) then
    error("SQL API error", 2)
  end
end

function connection:check_error(rs, query)
  check(connection_t, "connection", self)
  if self.error ~= NONE then
    raise(self, query, 2)
  end
  return rs
end

-- What is wrong with the API here is told, as in sysbench, where the function was called that called this.
function connection:query(query)
  check(connection_t, "connection", self)
  local rs = C.db_query(self, query, #query)
  if self.error ~= NONE then
    raise(self, query, self.sql_errno == 0 and 3 or 2)
  end
  return rs
end

function connection:query_row(query)
  check(connection_t, "connection", self)
  local rs = C.db_query(self, query, #query)
  if self.error ~= NONE then
    raise(self, query, 2)
  end
  if rs == nil then
    return nil
  end
  local count = rs.nfields
  local row = rs:fetch_row()
  C.db_free_results(rs)
  if row == nil then
    return nil
  end
  return unpack(row, 1, count)
end

function connection:more_results()
  check(connection_t, "connection", self)
  return C.db_more_results(self)
end

function connection:next_result()
  check(connection_t, "connection", self)
  local rs = C.db_next_result(self)
  if self.error ~= NONE then
    raise(self, nil, 2)
  end
  return rs
end

function connection:bulk_insert_init(query)
  check(connection_t, "connection", self)
  if C.db_bulk_insert_init(self, query, #query) ~= 0 then
    error("db_bulk_insert_init() failed", 2)
  end
end

function connection:bulk_insert_next(row)
  check(connection_t, "connection", self)
  if C.db_bulk_insert_next(self, row, #row) ~= 0 then
    error("db_bulk_insert_next() failed", 2)
  end
end

function connection:bulk_insert_done()
  check(connection_t, "connection", self)
  if C.db_bulk_insert_done(self) ~= 0 then
    error("db_bulk_insert_done() failed", 2)
  end
end

function connection:prepare(query)
  check(connection_t, "connection", self)
  local stmt = C.db_prepare(self, query, #query)
  if stmt == nil then
    if self.error == IGNORABLE then
      raise(self, query, 2)
    end
    error("SQL API error", 2)
  end
  return ffi.gc(stmt, C.db_statement_free)
end

local result = {}
result.__index = result
result.__tostring = function() return "<sql_result>" end

function result:fetch_row()
  check(result_t, "result", self)
  local fetched = C.db_fetch_row(self)
  if fetched == nil then
    return nil
  end
  local row, values = {}, fetched.values
  for i = 0, self.nfields - 1 do
    local value = values[i]
    if value.ptr ~= nil then
      row[i + 1] = ffi.string(value.ptr, value.len)
    end
  end
  return row
end

function result:free()
  check(result_t, "result", self)
  if C.db_free_results(self) ~= 0 then
    error("db_free_results() failed", 2)
  end
end

local statement = {}
statement.__index = statement
statement.__tostring = function() return "<sql_statement>" end

function statement:bind_create(kind, max_length)
  check(statement_t, "statement", self)
  local is_text = kind == CHAR or kind == VARCHAR
  if is_text and not (type(max_length) == "number" and max_length >= 0) then
    error("bind_create: a parameter of text needs a length", 2)
  end
  local param = type(kind) == "number" and C.db_bind_create(kind, is_text and max_length or 0) or nil
  if param == nil then
    error("Unsupported argument type: " .. tostring(kind), 2)
  end
  return ffi.gc(param, C.db_param_free)
end

function statement:bind_param(...)
  check(statement_t, "statement", self)
  local count = select("#", ...)
  if count == 0 then
    return nil
  end
  local params = ffi.new(binds_t, count)
  for i = 1, count do
    local param = select(i, ...)
    check(bind_t, "parameter", param)
    params[i - 1] = param
  end
  return C.db_bind_param(self, params, count)
end

function statement:execute()
  check(statement_t, "statement", self)
  local rs = C.db_execute(self)
  local con = self.connection
  if con.error ~= NONE then
    raise(con, "<prepared statement>", 2)
  end
  return rs
end

function statement:more_results()
  check(statement_t, "statement", self)
  return C.db_more_results(self.connection)
end

function statement:next_result()
  check(statement_t, "statement", self)
  local con = self.connection
  local rs = C.db_next_result(con)
  if con.error ~= NONE then
    raise(con, "<prepared statement>", 2)
  end
  return rs
end

function statement:close()
  check(statement_t, "statement", self)
  return C.db_close(self)
end

local param = {}
param.__index = param
param.__tostring = function() return "<sql_param>" end

function param:set(value)
  check(bind_t, "parameter", self)
  if value == nil then
    self.is_null = true
    return
  end
  local kind = tonumber(self.type)
  if kind == CHAR or kind == VARCHAR then
    if type(value) ~= "string" then
      value = tostring(value)
    end
    C.db_param_fill(self, value, #value, false)
    return
  end
  if kind == FLOAT or kind == DOUBLE then
    self.double_value = value
  else
    self.int_value = value
  end
  self.is_null = false
end

function param:set_rand_str(format)
  check(bind_t, "parameter", self)
  local kind = tonumber(self.type)
  if kind ~= CHAR and kind ~= VARCHAR then
    error("set_rand_str: the parameter is not of text", 2)
  end
  C.db_param_fill(self, format, #format, true)
end

ffi.metatype("sql_driver", driver)
ffi.metatype("sql_connection", connection)
ffi.metatype("sql_result", result)
ffi.metatype("sql_row", { __tostring = function() return "<sql_row>" end })
ffi.metatype("sql_statement", statement)
ffi.metatype("sql_bind", param)
