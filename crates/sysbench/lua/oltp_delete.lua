-- One delete by primary key.
require("oltp_common")

function prepare_statements()
  prepare_for_each_table("deletes")
end

function event()
  local number = get_table_num()
  param[number].deletes[1]:set(get_id())
  stmt[number].deletes:execute()
  check_reconnect()
end
