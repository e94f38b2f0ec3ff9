//! Scripts find our functions by name in the running program, so tests export them as the program does.

fn main() {
    println!("cargo:rustc-link-arg=-rdynamic");
    println!("cargo:rerun-if-changed=build.rs");
}
