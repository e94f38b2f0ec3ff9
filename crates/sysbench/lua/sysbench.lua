-- The table `sysbench`, modules that are built in, and the loop over events.
local C = ffi.C

sysbench = {
  error = { NONE = 0, RESTART_EVENT = 1 },
  hooks = {},
  histogram = {},
}

local search = package.loaders
search[#search + 1] = function(name)
  local size = ffi.new("size_t[1]")
  local text = C.plimsoll_module(name, #name, size)
  if text == nil then
    return "\n\tno module '" .. name .. "' in plimsoll"
  end
  return assert(loadstring(ffi.string(text, size[0]), "@" .. name .. ".lua"))
end

local histogram = {}
histogram.__index = histogram
histogram.__tostring = function() return "<sb_histogram>" end
function histogram:update(value) C.sb_histogram_update(self, value) end
function histogram:print() C.sb_histogram_print(self) end
ffi.metatype("sb_histogram_t", histogram)

function sysbench.histogram.new(size, range_min, range_max)
  local new = C.sb_histogram_new(size, range_min, range_max)
  if new == nil then
    error("histogram: the size must be 2 or more, and 0 < minimum < maximum", 2)
  end
  return ffi.gc(new, C.sb_histogram_delete)
end

-- Calls event() until it succeeds or fails for good. Nothing when the run ended before.
local function restart(thread_id, failure)
  while true do
    if type(failure) ~= "table" or failure.errcode ~= sysbench.error.RESTART_EVENT then
      error(failure, 0)
    end
    if sysbench.hooks.before_restart_event then
      sysbench.hooks.before_restart_event(failure)
    end
    if not C.plimsoll_retry() then
      return false
    end
    local ok, result = pcall(event, thread_id)
    if ok then
      return true, result
    end
    failure = result
  end
end

function thread_run(thread_id)
  while C.sb_more_events(thread_id) do
    C.sb_event_start(thread_id)
    local ok, result = pcall(event, thread_id)
    if not ok then
      ok, result = restart(thread_id, result)
    end
    if ok then
      if result ~= nil and result ~= false then
        return
      end
      C.sb_event_stop(thread_id)
    end
  end
end
