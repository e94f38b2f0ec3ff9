-- What the workloads with many statements in a transaction share.
--
-- It calls only what sysbench's own oltp_common has too: where users have a version of that, it takes the place of ours.
require("oltp_common")

local transaction = {}

function transaction.prepare_ends()
  if not sysbench.opt.skip_trx then
    prepare_begin()
    prepare_commit()
  end
end

function transaction.prepare_reads()
  prepare_point_selects()
  if sysbench.opt.range_selects then
    prepare_simple_ranges()
    prepare_sum_ranges()
    prepare_order_ranges()
    prepare_distinct_ranges()
  end
end

function transaction.prepare_writes()
  prepare_index_updates()
  prepare_non_index_updates()
  prepare_delete_inserts()
end

function transaction.execute_reads()
  execute_point_selects()
  if sysbench.opt.range_selects then
    execute_simple_ranges()
    execute_sum_ranges()
    execute_order_ranges()
    execute_distinct_ranges()
  end
end

function transaction.execute_writes()
  execute_index_updates()
  execute_non_index_updates()
  execute_delete_inserts()
end

-- One event: the statements between BEGIN and COMMIT.
function transaction.execute(statements)
  if not sysbench.opt.skip_trx then
    begin()
  end
  statements()
  if not sysbench.opt.skip_trx then
    commit()
  end
  check_reconnect()
end

return transaction
