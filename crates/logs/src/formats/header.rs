//! Lines that say something about an entry, `# Name: value  Name: value`, and those that a server writes when it opens a file.
//!
//! Fields are found by their names: order, spaces and lines differ between servers and versions.

use memchr::memmem;

use crate::entry::{Entry, Flavour, When};
use crate::time::{duration_us, moment, number};

/// What a header says besides the fields of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Who wrote it, by its fields.
    pub flavour: Flavour,
    /// It has the fields of `log_slow_extra` or of a verbosity.
    pub is_extended: bool,
    /// Start in microseconds since 1970, where it is written.
    pub start_us: Option<i64>,
    /// End in microseconds since 1970, where it is written.
    pub end_us: Option<i64>,
}

/// Whether a server wrote this line when it opened a log: its name, version and `started with:`.
pub fn is_opening(line: &[u8]) -> bool {
    let end = line.strip_suffix(b"\r").unwrap_or(line);
    end.ends_with(b"started with:") && memmem::find(line, b", Version: ").is_some()
}

/// Whether this is the second or third line of an opening.
pub fn follows_opening(line: &[u8]) -> bool {
    line.starts_with(b"Tcp port: ")
        || line.starts_with(b"TCP Port: ")
        || (line.starts_with(b"Time") && line.trim_ascii_end().ends_with(b"Argument"))
}

/// Reads `root[root] @ localhost []`, which stands after `# User@Host: `, and fields behind it.
pub fn account(line: &[u8], entry: &mut Entry, header: &mut Header) -> bool {
    let mut closings = memchr::memchr_iter(b']', line);
    let Some(middle) = closings.find(|&at| line[at..].starts_with(b"] @ ")) else {
        return false;
    };
    let Some(open) = line[..middle].iter().position(|&byte| byte == b'[') else {
        return false;
    };
    let place = &line[middle + 4..];
    let Some(bracket) = memchr::memchr(b'[', place) else {
        return false;
    };
    let Some(end) = memchr::memchr(b']', &place[bracket..]) else {
        return false;
    };
    let name = place[..bracket].trim_ascii();
    let address = &place[bracket + 1..bracket + end];
    entry.user.extend_from_slice(&line[open + 1..middle]);
    entry
        .host
        .extend_from_slice(if name.is_empty() { address } else { name });
    entry.has_account = true;
    fields(&place[bracket + end + 1..], entry, header)
}

/// Reads fields. `false` when the value of one cannot be what it says.
pub fn fields(line: &[u8], entry: &mut Entry, header: &mut Header) -> bool {
    let mut at = after_spaces(line, 0);
    let mut name_to = name_end(&line[at..]).map(|length| at + length);
    while let Some(colon) = name_to {
        let name = &line[at..colon];
        let begin = after_spaces(line, colon + 1);
        (at, name_to) = next_name(line, begin);
        if !field(name, line[begin..at].trim_ascii_end(), entry, header) {
            return false;
        }
    }
    true
}

/// Where the name after a value begins, and its colon: values reach to the next name, since schemas may have spaces in them.
fn next_name(line: &[u8], begin: usize) -> (usize, Option<usize>) {
    let mut at = begin;
    loop {
        if let Some(length) = name_end(&line[at..]) {
            return (at, Some(at + length));
        }
        match line[at..].iter().position(|&byte| byte == b' ') {
            Some(space) => at = after_spaces(line, at + space),
            None => return (line.len(), None),
        }
    }
}

fn after_spaces(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    at.min(line.len()) + rest.iter().take_while(|&&byte| byte == b' ').count()
}

/// Letters, digits and `_`: each name of each entry is looked at byte by byte.
const IS_OF_NAME: [bool; 256] = {
    let mut found = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        found[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    found
};

/// Bytes before the colon of a name, if the text begins with one.
fn name_end(text: &[u8]) -> Option<usize> {
    if !text.first()?.is_ascii_uppercase() {
        return None;
    }
    let end = text.iter().position(|&byte| !IS_OF_NAME[usize::from(byte)])?;
    (text[end] == b':' && matches!(text.get(end + 1), None | Some(b' '))).then_some(end)
}

fn field(name: &[u8], value: &[u8], entry: &mut Entry, header: &mut Header) -> bool {
    let (slot, read) = match name {
        b"Query_time" => (&mut entry.query_us, duration_us(value)),
        b"Lock_time" => (&mut entry.lock_us, duration_us(value)),
        b"Rows_sent" => (&mut entry.rows_sent, number(value)),
        b"Rows_examined" => (&mut entry.rows_examined, number(value)),
        b"Rows_affected" => (&mut entry.rows_affected, number(value)),
        b"Bytes_sent" => (&mut entry.bytes_sent, number(value)),
        b"Id" if value.is_empty() => return true, // doubled
        b"Id" | b"Thread_id" => (&mut entry.thread, number(value)),
        _ => return rare_field(name, value, entry, header),
    };
    *slot = read;
    read.is_some()
}

fn rare_field(name: &[u8], value: &[u8], entry: &mut Entry, header: &mut Header) -> bool {
    match name {
        b"Schema" => {
            entry.schema.clear();
            entry.schema.extend_from_slice(value);
            entry.has_schema = true;
        }
        b"QC_hit" => header.flavour = Flavour::MariaDb,
        b"Errno" => entry.errno = number(value),
        b"Last_errno" => {
            entry.errno = number(value);
            header.flavour = Flavour::Percona;
        }
        b"InnoDB_trx_id" => {
            entry.trx = hexadecimal(value);
            header.flavour = Flavour::Percona;
            header.is_extended = true;
        }
        b"InnoDB_pages_distinct" | b"Pages_accessed" => {
            entry.pages = number(value);
            header.is_extended = true;
        }
        b"Read_first" | b"Read_last" | b"Read_key" | b"Read_next" | b"Read_prev" | b"Read_rnd" | b"Read_rnd_next" => {
            let more = number(value).unwrap_or(0);
            entry.handler_reads = Some(entry.handler_reads.unwrap_or(0).saturating_add(more));
        }
        b"Log_slow_rate_limit" => entry.weight = number(value).unwrap_or(1).max(1),
        b"Start" => header.start_us = fine(value),
        b"End" => header.end_us = fine(value),
        b"Bytes_received" | b"Full_scan" | b"Tmp_tables" => header.is_extended = true,
        _ => {}
    }
    true
}

fn fine(value: &[u8]) -> Option<i64> {
    moment(value, 0)
        .filter(|moment| moment.is_fine)
        .map(|moment| moment.unix_us)
}

/// A transaction's id; none for 0.
fn hexadecimal(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    u64::from_str_radix(text, 16).ok().filter(|&id| id > 0)
}

/// When an entry was, from all that is said about it: microseconds where they are written, else seconds.
pub fn when(
    header: &Header,
    time: Option<(i64, bool)>,
    stamp_s: Option<u64>,
    query_us: u64,
    stamps_are_ends: bool,
) -> When {
    let span_us = i64::try_from(query_us).unwrap_or(i64::MAX);
    let second_of = |us: i64| us.div_euclid(crate::time::SECOND_US);
    let of_second: fn(i64) -> When = if stamps_are_ends {
        When::EndSecond
    } else {
        When::StartSecond
    };
    match (header.start_us, header.end_us, time, stamp_s) {
        (Some(start_us), Some(end_us), ..) if start_us <= end_us => When::Both(start_us, end_us),
        (_, _, Some((end_us, true)), _) => When::Both(end_us.saturating_sub(span_us), end_us),
        (_, _, _, Some(stamp_s)) => of_second(i64::try_from(stamp_s).unwrap_or(i64::MAX).min(STAMP_S_MAX)),
        (_, _, Some((us, false)), None) => of_second(second_of(us)),
        _ => When::Unknown,
    }
}

/// The year 9999; microseconds of later ones could overflow.
const STAMP_S_MAX: i64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let (mut entry, mut header) = (Entry::default(), Header::default());
        assert!(account(
            b"app[web] @  [10.0.0.1]  Id:  Id:    12",
            &mut entry,
            &mut header
        ));
        assert_eq!(
            (&entry.user[..], &entry.host[..], entry.thread),
            (&b"web"[..], &b"10.0.0.1"[..], Some(12))
        );
        assert!(fields(
            b"Schema: my shop  Last_errno: 1062  Killed: 0",
            &mut entry,
            &mut header
        ));
        assert_eq!((&entry.schema[..], entry.errno), (&b"my shop"[..], Some(1062)));
        assert!(fields(b"Thread_id: 7  Schema:   QC_hit: No", &mut entry, &mut header));
        assert_eq!(
            (&entry.schema[..], entry.has_schema, entry.thread),
            (&b""[..], true, Some(7))
        );
        assert!(fields(b"InnoDB_trx_id: 9C5C92E9B", &mut entry, &mut header));
        assert_eq!((entry.trx, header.flavour), (Some(0x9_C5C9_2E9B), Flavour::Percona));
        assert!(!fields(b"Query_time: x", &mut entry, &mut header));
    }
}
