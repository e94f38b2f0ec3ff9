-- Selects, updates, and a delete with an insert in a transaction.
local transaction = require("oltp_transaction")

function prepare_statements()
  transaction.prepare_ends()
  transaction.prepare_reads()
  transaction.prepare_writes()
end

local function statements()
  transaction.execute_reads()
  transaction.execute_writes()
end

function event()
  transaction.execute(statements)
end
