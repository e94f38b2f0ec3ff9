-- One insert as text. Without AUTO_INCREMENT the tables begin empty, so that no id is there twice.
require("oltp_common")

sysbench.cmdline.commands.prepare = {
  function()
    if not sysbench.opt.auto_inc then
      sysbench.opt.table_size = 0
    end
    cmd_prepare()
  end,
  sysbench.cmdline.PARALLEL_COMMAND,
}

function prepare_statements() end

function event()
  execute_insert()
  check_reconnect()
end
