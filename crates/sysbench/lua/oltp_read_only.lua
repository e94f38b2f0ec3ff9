-- Point and range selects in a transaction.
local transaction = require("oltp_transaction")

function prepare_statements()
  transaction.prepare_ends()
  transaction.prepare_reads()
end

function event()
  transaction.execute(transaction.execute_reads)
end
