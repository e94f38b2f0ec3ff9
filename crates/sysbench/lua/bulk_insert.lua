-- Rows inserted in bulk, each an event; each thread has a table of its own.
if sysbench.cmdline.command == nil then
  error("Command is required. Supported commands: prepare, run, cleanup, help")
end

function prepare()
  local con = sysbench.sql.driver():connect()
  for number = 1, sysbench.opt.threads do
    print("Creating table 'sbtest" .. number .. "'...")
    con:query(string.format([[
CREATE TABLE IF NOT EXISTS sbtest%d (
  id INTEGER NOT NULL,
  k INTEGER DEFAULT '0' NOT NULL,
  PRIMARY KEY (id)) /*! ENGINE = %s */]], number, sysbench.opt.mysql_storage_engine or "innodb"))
  end
end

local row = 0

function thread_init()
  con = sysbench.sql.driver():connect()
end

function thread_done()
  con:bulk_insert_done()
  con:disconnect()
end

function event(thread_id)
  if row == 0 then
    con:bulk_insert_init("INSERT INTO sbtest" .. thread_id + 1 .. " VALUES")
  end
  row = row + 1
  con:bulk_insert_next("(" .. row .. "," .. row .. ")")
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  for number = 1, sysbench.opt.threads do
    print("Dropping table 'sbtest" .. number .. "'...")
    con:query("DROP TABLE IF EXISTS sbtest" .. number)
  end
end
