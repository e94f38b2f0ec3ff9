//! One connection through a relay, forwarded both ways until both have ended.

use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use rustix::thread::set_current_timer_slack;

use crate::STACK_BYTES;
use crate::delay_line::DelayLine;
use crate::stream::Stream;

/// Bytes that are read at once.
const READ_BYTES: usize = 256 << 10;

/// Forwards between two ends until both directions have ended.
pub(crate) fn forward(client: &Stream, server: &Stream, delay: Duration) {
    let (up, down) = (DelayLine::new(delay), DelayLine::new(delay));
    let small = || thread::Builder::new().stack_size(STACK_BYTES);
    thread::scope(|scope| {
        let spawned = [
            small().spawn_scoped(scope, || receive(client, &up)),
            small().spawn_scoped(scope, || send(&up, client, server)),
            small().spawn_scoped(scope, || receive(server, &down)),
        ];
        if spawned.iter().any(Result::is_err) {
            // This machine has no thread to give: the link ends, and its two ends report that.
            for (end, line) in [(client, &up), (server, &down)] {
                end.shutdown_both();
                line.put(&[]);
            }
        }
        send(&down, server, client);
    });
}

/// Takes in what comes from one end. A connection that broke ends like one that was closed: what came before still arrives.
fn receive(mut from: &Stream, line: &DelayLine) {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        if !line.put(&buffer[..count]) || count == 0 {
            return;
        }
    }
}

/// Sends on what is due. Where the end that it goes to is gone, no more is taken in; what that end sent before it went still
/// arrives by the other direction, which then ends by itself.
fn send(line: &DelayLine, from: &Stream, mut to: &Stream) {
    let _ = set_current_timer_slack(NonZeroU64::new(1)); // a kernel without it wakes threads 0.05 ms late
    while let Some(bytes) = line.take() {
        if to.write_all(&bytes).is_err() {
            line.break_off();
            from.shutdown_read();
            return;
        }
    }
    to.shutdown_write();
}
