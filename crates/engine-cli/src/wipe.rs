//! Passwords among the arguments: overwritten where the system shows them to other users, or never there.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::exit;
use std::{env, fs, ptr, slice};

use crate::inherited;

/// Stands before all other arguments, with the number of a descriptor, a number above 2.
const DESCRIPTOR: &[u8] = b"--arguments-fd=";

/// The exit code where this machine does not do what it should.
const HOST_REFUSES: i32 = 3;

/// The arguments of this process, its name first. Where the first one names a descriptor, the words that its file holds,
/// each ended by NUL, stand in the place of all behind the name: a starter that knows a password shows it to nobody.
///
/// To be called once, before there are other threads.
pub fn arguments() -> Vec<OsString> {
    let mut words = wiped();
    let named = words.get(1).and_then(|word| word.as_bytes().strip_prefix(DESCRIPTOR));
    if let Some(number) = named.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()) {
        words.truncate(1);
        words.extend(handed_over(number).unwrap_or_else(|| {
            eprintln!(
                "plimsoll-engine: --arguments-fd={number}: cannot be read; it is for programs that start this one"
            );
            exit(HOST_REFUSES)
        }));
    }
    words
}

/// The words behind a descriptor; it is closed, so that no program that a script starts gets it.
fn handed_over(number: i32) -> Option<Vec<OsString>> {
    let path = (number > 2).then(|| format!("/dev/fd/{number}"))?;
    let mut text = fs::read(path).ok()?;
    drop(inherited::file(number)); // it is open, as was just seen
    text.pop().filter(|last| *last == 0)?;
    Some(
        text.split(|byte| *byte == 0)
            .map(|word| OsString::from_vec(word.to_vec()))
            .collect(),
    )
}

/// Reads the arguments that the system shows, and overwrites what stands behind `--…password=`. Where that cannot be done,
/// they can be seen.
fn wiped() -> Vec<OsString> {
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
