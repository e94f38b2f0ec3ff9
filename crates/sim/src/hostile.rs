//! Raw scripts: exactly these bytes at this point, for servers that lie, stall, trickle or never stop.

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use crate::stream::Stream;

/// One thing that the server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes one by one.
    Trickle {
        /// The bytes.
        bytes: Vec<u8>,
        /// The pause before each.
        pause: Duration,
    },
    /// Sends these bytes again and again until the client goes away.
    Repeat(Vec<u8>),
    /// Reads one packet of the client's.
    AwaitPacket,
    /// Keeps the connection open without a word until the client goes away.
    Hang,
}

/// Steps that let any client in, as a server does: the place where most scripts turn hostile.
pub fn let_in() -> Vec<Step> {
    let greeting = crate::packets::greeting("8.0.0-sim", 1, true);
    vec![
        Step::Send(crate::packets::packet(0, &greeting)),
        Step::AwaitPacket,
        Step::Send(crate::packets::packet(2, &crate::packets::ok(0))),
    ]
}

/// Plays the steps; ends early when the client goes away.
pub(crate) fn play(steps: &[Step], stream: &Stream) {
    for step in steps {
        if play_step(step, stream).is_err() {
            return;
        }
    }
}

fn play_step(step: &Step, mut stream: &Stream) -> std::io::Result<()> {
    match step {
        Step::Send(bytes) => stream.write_all(bytes),
        Step::Trickle { bytes, pause } => bytes.iter().try_for_each(|byte| {
            thread::sleep(*pause);
            stream.write_all(&[*byte])
        }),
        Step::Repeat(bytes) => loop {
            stream.write_all(bytes)?;
        },
        Step::AwaitPacket => read_packet(stream).map(|_| ()),
        Step::Hang => std::io::copy(&mut stream, &mut std::io::sink()).map(|_| ()),
    }
}

/// Reads one packet of the client's: its number and payload. Payloads over several packets are not understood.
pub(crate) fn read_packet(mut stream: impl Read) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let [a, b, c, sequence] = head;
    let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok((sequence, payload))
}
