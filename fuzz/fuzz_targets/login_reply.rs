//! Packets of the login.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_wire::fuzz_entry::login_reply(bytes));
