//! Lua scripts find our functions, and modules in C those of Lua, by name in the running program.

fn main() {
    println!("cargo:rustc-link-arg-bins=-rdynamic");
    println!("cargo:rerun-if-changed=build.rs");
}
