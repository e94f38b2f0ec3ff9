-- Reports that a script may choose: sysbench.report_default, report_csv, report_json.
local function rates(stat)
  local seconds = stat.time_interval
  local function per_second(count)
    return seconds > 0 and count / seconds or 0
  end
  return {
    tps = per_second(stat.events),
    qps = per_second(stat.reads + stat.writes + stat.other),
    reads = per_second(stat.reads),
    writes = per_second(stat.writes),
    other = per_second(stat.other),
    errors = per_second(stat.errors),
    reconnects = per_second(stat.reconnects),
    latency = stat.latency_pct * 1000,
  }
end

function sysbench.report_default(stat)
  local r = rates(stat)
  print(string.format("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%u%%): %4.2f " ..
    "err/s %4.2f reconn/s: %4.2f", stat.time_total, stat.threads_running, r.tps, r.qps, r.reads, r.writes, r.other,
    sysbench.opt.percentile, r.latency, r.errors, r.reconnects))
end

function sysbench.report_csv(stat)
  local r = rates(stat)
  print(string.format("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f", stat.time_total, stat.threads_running,
    r.tps, r.qps, r.reads, r.writes, r.other, r.latency, r.errors, r.reconnects))
end

-- The end of the array is written when the state is closed.
local array

function sysbench.report_json(stat)
  local r = rates(stat)
  if array then
    io.write(",\n")
  else
    array = newproxy(true)
    getmetatable(array).__gc = function() io.write("\n]\n") end
    io.write("[\n")
  end
  io.write(string.format([[
  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], stat.time_total, stat.threads_running, r.tps, r.qps, r.reads, r.writes, r.other, r.latency, r.errors,
    r.reconnects))
end
