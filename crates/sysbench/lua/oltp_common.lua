-- What the OLTP workloads share: options, commands, tables, statements.
--
-- Each statement is prepared once for each thread and table; the table is drawn once for each group of statements.
if sysbench.cmdline.command == nil then
  error("Command is required. Supported commands: prepare, warmup, run, cleanup, help")
end

sysbench.cmdline.options = {
  table_size = { "Number of rows per table", 10000 },
  range_size = { "Range size for range SELECT queries", 100 },
  tables = { "Number of tables", 1 },
  point_selects = { "Number of point SELECT queries per transaction", 10 },
  simple_ranges = { "Number of simple range SELECT queries per transaction", 1 },
  sum_ranges = { "Number of SELECT SUM() queries per transaction", 1 },
  order_ranges = { "Number of SELECT ORDER BY queries per transaction", 1 },
  distinct_ranges = { "Number of SELECT DISTINCT queries per transaction", 1 },
  index_updates = { "Number of UPDATE index queries per transaction", 1 },
  non_index_updates = { "Number of UPDATE non-index queries per transaction", 1 },
  delete_inserts = { "Number of DELETE/INSERT combinations per transaction", 1 },
  range_selects = { "Enable/disable all range SELECT queries", true },
  auto_inc = { "Use AUTO_INCREMENT column as Primary Key, or its alternatives in other servers. When disabled, use " ..
    "client-generated IDs", true },
  create_table_options = { "Extra CREATE TABLE options", "" },
  skip_trx = { "Don't start explicit transactions and execute all queries in the AUTOCOMMIT mode", false },
  secondary = { "Use a secondary index in place of the PRIMARY KEY", false },
  create_secondary = { "Create a secondary index in addition to the PRIMARY KEY", true },
  reconnect = { "Reconnect after every N events. The default (0) is to not reconnect", 0 },
  mysql_storage_engine = { "Storage engine, if MySQL is used", "innodb" },
  pgsql_variant = { "Use this PostgreSQL variant when running with the PostgreSQL driver" },
}

local TYPE = sysbench.sql.type
local MEMORY_TABLE_BYTES = 2 * 1024 * 1024 * 1024

local function say(format, ...)
  print(string.format(format, ...))
end

-- Calls with the numbers of the tables that are this thread's.
local function for_own_tables(action)
  local drv = sysbench.sql.driver()
  local connection = drv:connect()
  for number = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    action(drv, connection, number)
  end
end

function cmd_prepare()
  for_own_tables(create_table)
end

-- Brings the tables and their index into the server's memory.
function cmd_warmup()
  for_own_tables(function(_, connection, number)
    local name = "sbtest" .. number
    say("%s table %s", sysbench.version:match("^1%.0") and "Prewarming" or "Preloading", name)
    connection:query("SET tmp_table_size=" .. string.format("%d", MEMORY_TABLE_BYTES))
    connection:query("SET max_heap_table_size=" .. string.format("%d", MEMORY_TABLE_BYTES))
    connection:query("ANALYZE TABLE " .. name)
    connection:query(string.format("SELECT AVG(id) FROM (SELECT * FROM %s FORCE KEY (PRIMARY) LIMIT %u) t", name,
      sysbench.opt.table_size))
    connection:query(string.format("SELECT COUNT(*) FROM (SELECT * FROM %s WHERE k LIKE '%%0%%' LIMIT %u) t", name,
      sysbench.opt.table_size))
  end)
end

sysbench.cmdline.commands = {
  prepare = { cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND },
  warmup = { cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND },
  prewarm = { cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND },
}

function cleanup()
  local connection = sysbench.sql.driver():connect()
  for number = 1, sysbench.opt.tables do
    say("Dropping table 'sbtest%d'...", number)
    connection:query("DROP TABLE IF EXISTS sbtest" .. number)
  end
end

-- Ten groups of eleven digits, and five.
local C_FORMAT = string.rep("###########", 10, "-")
local PAD_FORMAT = string.rep("###########", 5, "-")

function get_c_value()
  return sysbench.rand.string(C_FORMAT)
end

function get_pad_value()
  return sysbench.rand.string(PAD_FORMAT)
end

-- An id for tables without AUTO_INCREMENT: no number twice, in the range of a signed integer.
local function unique_id()
  return sysbench.rand.unique() - 2147483648
end

local function insert_rows(connection, number)
  local opt = sysbench.opt
  say("Inserting %d records into 'sbtest%d'", opt.table_size, number)
  local columns = opt.auto_inc and "k, c, pad" or "id, k, c, pad"
  connection:bulk_insert_init(string.format("INSERT INTO sbtest%d(%s) VALUES", number, columns))
  for id = 1, opt.table_size do
    local k, c, pad = sysbench.rand.default(1, opt.table_size), get_c_value(), get_pad_value()
    if opt.auto_inc then
      connection:bulk_insert_next(string.format("(%d, '%s', '%s')", k, c, pad))
    else
      connection:bulk_insert_next(string.format("(%d, %d, '%s', '%s')", id, k, c, pad))
    end
  end
  connection:bulk_insert_done()
end

function create_table(_, connection, number)
  local opt = sysbench.opt
  say("Creating table 'sbtest%d'...", number)
  connection:query(string.format([[
CREATE TABLE sbtest%d(
  id INTEGER NOT NULL%s,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  %s (id)
) /*! ENGINE = %s */ %s]], number, opt.auto_inc and " AUTO_INCREMENT" or "", opt.secondary and "KEY xid" or "PRIMARY KEY",
    opt.mysql_storage_engine, opt.create_table_options or ""))
  if opt.table_size > 0 then
    insert_rows(connection, number)
  end
  if opt.create_secondary then
    say("Creating a secondary index on 'sbtest%d'...", number)
    connection:query(string.format("CREATE INDEX k_%d ON sbtest%d(k)", number, number))
  end
end

-- Texts and parameters of the statements on one table.
local TEXT = { TYPE.CHAR, 120 }
local PAD = { TYPE.CHAR, 60 }
local STATEMENTS = {
  point_selects = { "SELECT c FROM sbtest%u WHERE id=?", TYPE.INT },
  simple_ranges = { "SELECT c FROM sbtest%u WHERE id BETWEEN ? AND ?", TYPE.INT, TYPE.INT },
  sum_ranges = { "SELECT SUM(k) FROM sbtest%u WHERE id BETWEEN ? AND ?", TYPE.INT, TYPE.INT },
  order_ranges = { "SELECT c FROM sbtest%u WHERE id BETWEEN ? AND ? ORDER BY c", TYPE.INT, TYPE.INT },
  distinct_ranges = { "SELECT DISTINCT c FROM sbtest%u WHERE id BETWEEN ? AND ? ORDER BY c", TYPE.INT, TYPE.INT },
  index_updates = { "UPDATE sbtest%u SET k=k+1 WHERE id=?", TYPE.INT },
  non_index_updates = { "UPDATE sbtest%u SET c=? WHERE id=?", TEXT, TYPE.INT },
  deletes = { "DELETE FROM sbtest%u WHERE id=?", TYPE.INT },
  inserts = { "INSERT INTO sbtest%u (id, k, c, pad) VALUES (?, ?, ?, ?)", TYPE.INT, TYPE.INT, TEXT, PAD },
}

-- Statements and their parameters by table and name.
stmt, param = {}, {}

function prepare_for_each_table(name)
  local definition = STATEMENTS[name]
  for number = 1, sysbench.opt.tables do
    stmt[number], param[number] = stmt[number] or {}, param[number] or {}
    local statement = con:prepare(string.format(definition[1], number))
    local params = {}
    for i = 2, #definition do
      local kind = definition[i]
      if type(kind) == "table" then
        params[i - 1] = statement:bind_create(kind[1], kind[2])
      else
        params[i - 1] = statement:bind_create(kind)
      end
    end
    statement:bind_param(unpack(params))
    stmt[number][name], param[number][name] = statement, params
  end
end

function prepare_begin() stmt.begin = con:prepare("BEGIN") end
function prepare_commit() stmt.commit = con:prepare("COMMIT") end
function prepare_point_selects() prepare_for_each_table("point_selects") end
function prepare_simple_ranges() prepare_for_each_table("simple_ranges") end
function prepare_sum_ranges() prepare_for_each_table("sum_ranges") end
function prepare_order_ranges() prepare_for_each_table("order_ranges") end
function prepare_distinct_ranges() prepare_for_each_table("distinct_ranges") end
function prepare_index_updates() prepare_for_each_table("index_updates") end
function prepare_non_index_updates() prepare_for_each_table("non_index_updates") end

function prepare_delete_inserts()
  prepare_for_each_table("deletes")
  prepare_for_each_table("inserts")
end

function thread_init()
  if sysbench.opt.tables < 1 then
    error("--tables: must be at least 1, is " .. sysbench.opt.tables, 0)
  end
  drv = sysbench.sql.driver()
  con = drv:connect()
  stmt, param = {}, {}
  prepare_statements()
end

function close_statements()
  for _, one in pairs(stmt) do
    if type(one) == "table" then
      for _, statement in pairs(one) do
        statement:close()
      end
    else
      one:close()
    end
  end
  stmt, param = {}, {}
end

function thread_done()
  close_statements()
  con:disconnect()
end

function begin() stmt.begin:execute() end
function commit() stmt.commit:execute() end

function get_table_num()
  return sysbench.rand.uniform(1, sysbench.opt.tables)
end

function get_id()
  return sysbench.rand.default(1, sysbench.opt.table_size)
end

function execute_point_selects()
  local number = get_table_num()
  local statement, params = stmt[number].point_selects, param[number].point_selects
  for _ = 1, sysbench.opt.point_selects do
    params[1]:set(get_id())
    statement:execute()
  end
end

local function execute_ranges(name)
  local number = get_table_num()
  local statement, params = stmt[number][name], param[number][name]
  for _ = 1, sysbench.opt[name] do
    local id = get_id()
    params[1]:set(id)
    params[2]:set(id + sysbench.opt.range_size - 1)
    statement:execute()
  end
end

function execute_simple_ranges() execute_ranges("simple_ranges") end
function execute_sum_ranges() execute_ranges("sum_ranges") end
function execute_order_ranges() execute_ranges("order_ranges") end
function execute_distinct_ranges() execute_ranges("distinct_ranges") end

function execute_index_updates()
  local number = get_table_num()
  local statement, params = stmt[number].index_updates, param[number].index_updates
  for _ = 1, sysbench.opt.index_updates do
    params[1]:set(get_id())
    statement:execute()
  end
end

function execute_non_index_updates()
  local number = get_table_num()
  local statement, params = stmt[number].non_index_updates, param[number].non_index_updates
  for _ = 1, sysbench.opt.non_index_updates do
    params[1]:set_rand_str(C_FORMAT)
    params[2]:set(get_id())
    statement:execute()
  end
end

function execute_delete_inserts()
  local number = get_table_num()
  local delete, insert = param[number].deletes, param[number].inserts
  for _ = 1, sysbench.opt.delete_inserts do
    local id = get_id()
    delete[1]:set(id)
    insert[1]:set(id)
    insert[2]:set(get_id())
    insert[3]:set_rand_str(C_FORMAT)
    insert[4]:set_rand_str(PAD_FORMAT)
    stmt[number].deletes:execute()
    stmt[number].inserts:execute()
  end
end

-- An insert as text, with an id of its own.
function execute_insert()
  local name = "sbtest" .. get_table_num()
  local id = sysbench.opt.auto_inc and 0 or unique_id()
  con:query(string.format("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', '%s')", name, id, get_id(), get_c_value(),
    get_pad_value()))
end

-- After a reconnect the server knows none of the statements.
function sysbench.hooks.before_restart_event(failure)
  local errno = failure.sql_errno
  if errno == 2013 or errno == 2055 or errno == 2006 or errno == 2011 then
    close_statements()
    prepare_statements()
  end
end

local events = 0

function check_reconnect()
  local every = sysbench.opt.reconnect
  if every > 0 then
    events = events + 1
    if events % every == 0 then
      close_statements()
      con:reconnect()
      prepare_statements()
    end
  end
end
