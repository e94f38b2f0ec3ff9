-- sysbench.cmdline: options and commands of a script.
local cmdline = {
  ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7,
  ARG_MAX = 8,
  PARALLEL_COMMAND = true,
}
sysbench.cmdline = cmdline

local KINDS = {
  boolean = cmdline.ARG_BOOL, string = cmdline.ARG_STRING, number = cmdline.ARG_DOUBLE, table = cmdline.ARG_LIST,
}

local function shown(value)
  if type(value) == "boolean" then
    return value and "on" or "off"
  elseif type(value) == "table" then
    return table.concat(value, ",")
  end
  return tostring(value)
end

local SUFFIXES = {
  [cmdline.ARG_BOOL] = "[=on|off]", [cmdline.ARG_INT] = "=N", [cmdline.ARG_SIZE] = "=SIZE", [cmdline.ARG_DOUBLE] = "=N",
  [cmdline.ARG_STRING] = "=STRING", [cmdline.ARG_LIST] = "=[LIST,...]", [cmdline.ARG_FILE] = "=FILENAME",
}

-- The type of an option: as it is declared, or that of its default.
local function kind_of(default, declared)
  local kind = declared
  if kind == nil then
    kind = default == nil and cmdline.ARG_STRING or KINDS[type(default)] or type(default)
  end
  if SUFFIXES[kind] == nil then
    error("Unknown argument type: " .. tostring(kind))
  end
  return kind
end

-- The options as a list of { name, description, kind, default }, sorted by name.
function cmdline.read_cmdline_options()
  local options = {}
  if cmdline.options == nil then
    return options
  end
  if type(cmdline.options) ~= "table" then
    error("wrong table structure in sysbench.cmdline.options")
  end
  for name, given in pairs(cmdline.options) do
    if type(name) ~= "string" or type(given) ~= "table" then
      error("wrong table structure in sysbench.cmdline.options")
    end
    local description, default = given[1], given[2]
    assert(description ~= nil, "option '" .. name .. "' has no description")
    options[#options + 1] = {
      name = name,
      description = tostring(description),
      kind = kind_of(default, given[3]),
      default = default ~= nil and shown(default) or nil,
    }
  end
  table.sort(options, function(a, b) return a.name < b.name end)
  return options
end

function cmdline.print_test_options()
  local rows, width = {}, 0
  for _, option in ipairs(cmdline.read_cmdline_options()) do
    local name = "--" .. option.name .. SUFFIXES[option.kind]
    width = math.max(width, #name)
    rows[#rows + 1] = { name, option.description, option.default and " [" .. option.default .. "]" or "" }
  end
  for _, row in ipairs(rows) do
    print(string.format("  %-" .. width .. "s %s%s", row[1], row[2], row[3]))
  end
  print()
end

local function command(name)
  local all = cmdline.commands
  local found = type(all) == "table" and all[name] or nil
  if found ~= nil and type(found) ~= "table" then
    error("wrong table structure in sysbench.cmdline.commands")
  end
  return found
end

function cmdline.command_defined(name)
  return command(name) ~= nil
end

function cmdline.command_parallel(name)
  local found = command(name)
  return found ~= nil and found[2] == cmdline.PARALLEL_COMMAND
end

-- False when the command says that it failed.
function cmdline.call_command(name)
  local result = command(name)[1]()
  return result == nil or (result and true or false)
end
