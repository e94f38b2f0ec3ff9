//! Passwords among the arguments, overwritten where the system shows them to other users.

use std::ffi::OsString;
use std::fs;
use std::{env, ptr, slice};

/// Reads the arguments of this process, and overwrites what stands behind `--…password=`. Where that cannot be done, they
/// can be seen.
///
/// To be called once, before there are other threads.
pub fn arguments() -> Vec<OsString> {
    let words: Vec<OsString> = env::args_os().collect();
    if let Some((begin, size)) = location() {
        let memory = ptr::with_exposed_provenance_mut::<u8>(begin);
        // SAFETY: the kernel says that the arguments are there, in memory of this process that may be written; they were
        // copied above, nothing refers to them, and there is no other thread that could read them.
        overwrite(unsafe { slice::from_raw_parts_mut(memory, size) });
    }
    words
}

/// Where the arguments are, and how many bytes they have.
fn location() -> Option<(usize, usize)> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let begin: usize = fields.get(45)?.parse().ok()?;
    let end: usize = fields.get(46)?.parse().ok()?;
    (0 < begin && begin < end).then(|| (begin, end - begin))
}

/// Puts an `x` in the place of every letter of a password.
fn overwrite(arguments: &mut [u8]) {
    for argument in arguments.split_mut(|byte| *byte == 0) {
        let Some(sign) = argument.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (name, value) = argument.split_at_mut(sign + 1);
        if name.starts_with(b"--") && name.ends_with(b"password=") {
            value.fill(b'x');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_passwords_are_overwritten() {
        let mut arguments =
            *b"sysbench\0--mysql-password=a=b\0--mysql_password=\0--user=me\0password=c\0--x-password\0";
        overwrite(&mut arguments);
        assert_eq!(
            arguments,
            *b"sysbench\0--mysql-password=xxx\0--mysql_password=\0--user=me\0password=c\0--x-password\0"
        );
    }
}
