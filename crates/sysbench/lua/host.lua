-- What the program itself calls in a state; scripts do not see it. Each function is called through `protected`.
local host = {}

local data = "/usr/local/share/sysbench/?.lua;/usr/share/sysbench/?.lua"

local function message(failure)
  if type(failure) == "string" or type(failure) == "number" then
    return tostring(failure)
  end
  return "(not a string)"
end

-- Does what `luajit -j` does with a command: on, off, flush, opt=..., or a module with its arguments.
local function control_compiler(command)
  if command == nil or command == "" then
    return
  end
  local name, given = command:match("^([^=]+)=?(.*)$")
  local arguments = {}
  for argument in (given or ""):gmatch("[^,]+") do
    arguments[#arguments + 1] = argument
  end
  local action = jit[name]
  if type(action) ~= "function" then
    action = require("jit." .. tostring(name)).start
  end
  action(unpack(arguments))
end

-- Sets what the command line said.
function host.begin(script)
  sysbench.version, sysbench.version_string = script.version, script.long_version
  sysbench.tid = script.tid
  thread_id = script.tid
  test = script.path
  sysbench.cmdline.argv = script.argv
  sysbench.cmdline.command = script.command
  sysbench.cmdline.script_path = script.path
  local home = os.getenv("HOME") or ""
  local rocks = home .. "/.luarocks/"
  local function paths(variable, list)
    local default, given = table.concat(list, ";"), os.getenv(variable)
    if not given then
      return default
    end
    return (given:gsub(";;", function() return ";" .. default .. ";" end))
  end
  -- A script given by its path finds what it found under sysbench; the modules of this program come before that otherwise.
  package.loaders[#package.loaders + 1] = function(name)
    local path, failure = package.searchpath(name, data)
    return path and assert(loadfile(path)) or failure
  end
  package.path = paths("LUA_PATH", {
    "./?.lua", "./?/init.lua", "./src/lua/?.lua", rocks .. "share/lua/5.1/?.lua", rocks .. "share/lua/5.1/?/init.lua",
    rocks .. "share/lua/?.lua", rocks .. "share/lua/?/init.lua", "/usr/local/share/lua/5.1/?.lua",
    "/usr/share/lua/5.1/?.lua", script.is_file and data or nil,
  })
  package.cpath = paths("LUA_CPATH", {
    "./?.so", rocks .. "lib/lua/5.1/?.so", rocks .. "lib/lua/?.so", "/usr/local/lib/lua/5.1/?.so",
    "/usr/lib/lua/5.1/?.so",
  })
  if script.is_master then
    io.stdout:setvbuf("no")
  end
  control_compiler(script.luajit_command)
end

function host.load_file(path)
  local chunk, failure = loadfile(path)
  if not chunk then
    error(failure, 0)
  end
  chunk()
end

function host.load_text(text)
  if text:sub(1, 1) == "#" then
    text = text:gsub("^[^\n]*", "", 1)
  end
  local chunk, failure = loadstring(text, "=stdin")
  if not chunk then
    error(failure, 0)
  end
  chunk()
end

function host.load_module(name)
  require(name)
end

-- Whether require would find a module of this name.
function host.has_module(name)
  if package.preload[name] or package.searchpath(name, package.path) or package.searchpath(name, package.cpath) then
    return true
  end
  return ffi.C.plimsoll_module(name, #name, nil) ~= nil or package.searchpath(name, data) ~= nil
end

-- Whether a module of this name is this program's own, and not a file that comes before it.
function host.is_own_module(name)
  return package.searchpath(name, package.path) == nil and ffi.C.plimsoll_module(name, #name, nil) ~= nil
end

-- Fills sysbench.opt, and globals where the script declares no options.
function host.options(values)
  sysbench.opt = values
  if sysbench.cmdline.options ~= nil then
    return
  end
  for name, value in pairs(values) do
    local there = type(_G[name])
    if there ~= "function" and there ~= "table" then
      _G[name] = value
    end
  end
end

function host.has_options()
  return sysbench.cmdline.options ~= nil
end

function host.read_options()
  return sysbench.cmdline.read_cmdline_options()
end

function host.has(name)
  return type(_G[name]) == "function"
end

function host.has_hook(name)
  return type(sysbench.hooks[name]) == "function"
end

function host.command_kind(name)
  if sysbench.cmdline.command_defined(name) then
    return sysbench.cmdline.command_parallel(name) and "parallel" or "single"
  end
  return ""
end

function host.command(name)
  return sysbench.cmdline.call_command(name)
end

function host.call(name, ...)
  _G[name](...)
end

-- A hook that was taken away since the script was loaded writes nothing.
function host.hook(name, stat)
  if sysbench.hooks[name] ~= nil then
    sysbench.hooks[name](stat)
  end
end

-- Calls one of the functions above: true and its result, or false and what went wrong.
return function(name, ...)
  local ok, result = pcall(host[name], ...)
  if ok then
    return true, result
  end
  return false, message(result)
end
