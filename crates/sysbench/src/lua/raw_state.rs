//! A Lua state made, and closed when nothing refers to it any more.

use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::rc::Rc;

use mlua::{Lua, ffi};

use super::host::Host;
use super::{allocator, memory};

/// A Lua state. Functions and values of it must be gone before it is.
pub struct RawState {
    /// Gone before the state is closed.
    lua: ManuallyDrop<Lua>,
    raw: *mut ffi::lua_State,
    host: Rc<Host>,
}

impl RawState {
    /// A state with its libraries; `None` where there is no memory for it. When it is closed, finalisers find this host.
    pub fn open(host: Rc<Host>) -> Option<Self> {
        // SAFETY: the allocator does what Lua's manual asks for, and needs no data of its own.
        let raw = unsafe { ffi::lua_newstate(allocator::allocate, null_mut()) };
        if raw.is_null() {
            return None;
        }
        // SAFETY: the state is new, and nothing that follows can fail in it but for want of memory.
        let lua = unsafe {
            ffi::luaL_openlibs(raw);
            Lua::get_or_init_from_ptr(raw).clone()
        };
        Some(Self {
            lua: ManuallyDrop::new(lua),
            raw,
            host,
        })
    }

    /// The state as Rust sees it.
    pub fn lua(&self) -> &Lua {
        &self.lua
    }
}

/// How the interpreter names itself: `LuaJIT 2.1.1234567890`.
pub fn luajit_version() -> String {
    let version = Lua::new().load("return jit.version").eval();
    version.unwrap_or_else(|_| "LuaJIT".to_owned())
}

impl Drop for RawState {
    /// Finalisers run here, and find their host.
    fn drop(&mut self) {
        // SAFETY: it is not used again, and must be gone before the state that it points into.
        unsafe { ManuallyDrop::drop(&mut self.lua) };
        // SAFETY: the state was made by this value, in this thread, and nothing refers to it any more.
        self.host.enter(|| unsafe { ffi::lua_close(self.raw) });
        memory::settle();
    }
}
