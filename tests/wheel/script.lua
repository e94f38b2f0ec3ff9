-- For the engine of a wheel: a script finds its functions by name, and an error in code that LuaJIT compiled is caught.
local ffi = require("ffi")
local sizes = {}
for i = 1, 300 do sizes[i] = 1 end

local function repeated()
  local text
  for i = 1, #sizes do text = string.rep("x", sizes[i]) end
  return #text
end

function event()
  for _ = 1, 10 do assert(repeated() == 1) end
  sizes[300] = 0x7fffff00
  assert(not pcall(repeated), "a string of 2 GiB was made")
  sizes[300] = 1
  ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_READ)
end
