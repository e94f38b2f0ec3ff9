-- Updates, and a delete with an insert in a transaction.
local transaction = require("oltp_transaction")

function prepare_statements()
  transaction.prepare_ends()
  transaction.prepare_writes()
end

function event()
  transaction.execute(transaction.execute_writes)
end
