//! The least that a client of blocking sockets can do: one thread per connection, prepared statements, one `send` and as
//! few `recv` as a reply takes. A reply is read for its end only. No client that sends the same statements one by one over
//! blocking sockets can use much less of the processor.
//!
//! `plimsoll-bare-loop PORT USER DATABASE ROWS CONNECTIONS SECONDS WORKLOAD` drives a workload on `sbtest1` as a user without
//! a password, and prints how many transactions completed in that time. Server, tables and workloads are those of the bench;
//! nothing else is handled.

mod mix;
mod protocol;

use std::env;
use std::error::Error;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use mix::{Mix, Random};
use protocol::{Outcome, REPLY_BYTES_MAX};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const STACK_BYTES: usize = 64 * 1024;

struct Asked {
    port: u16,
    user: String,
    database: String,
    rows: u64,
    connections: u64,
    seconds: f64,
    workload: String,
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [port, user, database, rows, connections, seconds, workload] = words.as_slice() else {
        return Err("usage: plimsoll-bare-loop PORT USER DATABASE ROWS CONNECTIONS SECONDS WORKLOAD".into());
    };
    let asked = Asked {
        port: port.parse()?,
        user: user.clone(),
        database: database.clone(),
        rows: rows.parse()?,
        connections: connections.parse()?,
        seconds: seconds.parse()?,
        workload: workload.clone(),
    };
    println!("{}", drive(&asked)?);
    Ok(())
}

/// Runs all connections side by side; gives the transactions that completed.
fn drive(asked: &Asked) -> Result<u64> {
    let is_over = Arc::new(AtomicBool::new(false));
    let begin = Arc::new(Barrier::new(usize::try_from(asked.connections)? + 1));
    let mut threads = Vec::new();
    for index in 0..asked.connections {
        let mut stream = TcpStream::connect(("127.0.0.1", asked.port))?;
        stream.set_nodelay(true)?;
        protocol::log_in(&mut stream, &asked.user, &asked.database)?;
        let mut random = Random::new(index, asked.rows);
        let mix = Mix::prepared(&asked.workload, &mut stream, &mut random)?;
        let (is_over, begin) = (Arc::clone(&is_over), Arc::clone(&begin));
        threads.push(thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            begin.wait();
            repeat(stream, mix, random, &is_over)
        })?);
    }
    begin.wait();
    thread::sleep(Duration::from_secs_f64(asked.seconds));
    is_over.store(true, Ordering::Relaxed);
    let mut completed = 0;
    for thread in threads {
        completed += thread.join().expect("a thread does not panic")?;
    }
    Ok(completed)
}

/// The loop itself. A transaction that the server rolled back is left, and the next begins.
fn repeat(mut stream: TcpStream, mut mix: Mix, mut random: Random, is_over: &AtomicBool) -> Result<u64> {
    let mut reply = [0; REPLY_BYTES_MAX];
    let mut completed = 0;
    'transactions: while !is_over.load(Ordering::Relaxed) {
        for request in &mut mix.requests {
            for _ in 0..request.times {
                stream.write_all(request.filled(&mut random))?;
                match protocol::read_reply(&mut stream, &mut reply)? {
                    Outcome::Done => {}
                    Outcome::RolledBack => continue 'transactions,
                }
            }
        }
        completed += u64::from(!is_over.load(Ordering::Relaxed));
    }
    Ok(completed)
}
