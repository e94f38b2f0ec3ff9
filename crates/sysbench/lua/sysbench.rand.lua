-- sysbench.rand
local C = ffi.C
local rand = {}
sysbench.rand = rand

function rand.default(a, b) return C.sb_rand_default(a, b) end
function rand.uniform(a, b) return C.sb_rand_uniform(a, b) end
function rand.gaussian(a, b) return C.sb_rand_gaussian(a, b) end
function rand.special(a, b) return C.sb_rand_special(a, b) end
function rand.pareto(a, b) return C.sb_rand_pareto(a, b) end
function rand.zipfian(a, b) return C.sb_rand_zipfian(a, b) end
function rand.unique() return C.sb_rand_unique() end
function rand.uniform_double() return C.sb_rand_uniform_double() end
function rand.uniform_uint64() return C.sb_rand_uniform_uint64() end

local size = 256
local buffer = ffi.new("char[?]", size)

local function room(length)
  if length > size then
    buffer, size = ffi.new("char[?]", length), length
  end
  return buffer
end

function rand.string(format)
  local length = #format
  local text = room(length)
  C.plimsoll_rand_str(format, length, text)
  return ffi.string(text, length)
end

function rand.varstring(min_length, max_length)
  assert(min_length <= max_length, "varstring: the shortest length must not be above the longest")
  assert(max_length > 0, "varstring: the longest length must be above 0")
  local text = room(max_length)
  return ffi.string(text, C.sb_rand_varstr(text, min_length, max_length))
end
