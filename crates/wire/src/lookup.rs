//! Looks up the addresses of a host. The system's resolver can neither be given a deadline nor be interrupted, so it runs in
//! a thread of its own, and whoever asked waits for its answer no longer than it likes.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_core::lock::lock;

use crate::error::ConnectFailure;
use crate::interrupter::{Interrupter, Looked};

type Resolve = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// Looks up one host. All who ask while a lookup runs share its answer, so that thousands of connections that come back
/// together ask once, and a resolver that hangs holds one thread.
#[derive(Debug)]
pub struct Lookup {
    resolve: Resolve,
    askers: Arc<Mutex<Askers>>,
}

#[derive(Debug, Default)]
struct Askers {
    is_running: bool,
    waiting: Vec<Sender<Looked>>,
}

impl Default for Lookup {
    fn default() -> Self {
        Self::by(|host, port| (host, port).to_socket_addrs().map(Iterator::collect))
    }
}

impl Lookup {
    fn by(resolve: Resolve) -> Self {
        Self {
            resolve,
            askers: Arc::default(),
        }
    }

    /// The addresses of a host, in the order of the system; an address is its own. Waits at most until the deadline, which
    /// is `timeout` after the begin of the whole.
    pub fn addresses(
        &self,
        (host, port): (&str, u16),
        (deadline, timeout): (Instant, Duration),
        interrupter: &Interrupter,
    ) -> Result<Vec<SocketAddr>, ConnectFailure> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let (asker, answer) = channel();
        interrupter.watch_name(&asker)?;
        self.ask(host, port, asker)?;
        match answer.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Looked::Found(addresses)) => Ok(addresses),
            Ok(Looked::Unknown(reason)) => Err(ConnectFailure::UnknownHost(reason)),
            Ok(Looked::Interrupted) => Err(ConnectFailure::Interrupted),
            Err(_) => Err(ConnectFailure::NoName(timeout)),
        }
    }

    fn ask(&self, host: &str, port: u16, asker: Sender<Looked>) -> Result<(), ConnectFailure> {
        let mut askers = lock(&self.askers);
        askers.waiting.push(asker);
        if askers.is_running {
            return Ok(());
        }
        let (resolve, host, shared) = (self.resolve, host.to_owned(), Arc::clone(&self.askers));
        let thread = thread::Builder::new().name("lookup".to_owned());
        thread
            .spawn(move || tell(&shared, resolve(&host, port)))
            .map_err(ConnectFailure::Other)?;
        askers.is_running = true;
        Ok(())
    }
}

fn tell(askers: &Mutex<Askers>, resolved: io::Result<Vec<SocketAddr>>) {
    let looked = match resolved {
        Ok(addresses) => Looked::Found(addresses),
        Err(error) => Looked::Unknown(error.to_string()),
    };
    let mut askers = lock(askers);
    askers.is_running = false;
    for asker in askers.waiting.drain(..) {
        let _ = asker.send(looked.clone()); // it may have given up waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const LONG: Duration = Duration::from_secs(60);

    fn ask(
        lookup: &Lookup,
        host: &str,
        timeout: Duration,
        interrupter: &Interrupter,
    ) -> Result<Vec<SocketAddr>, String> {
        let deadline = (Instant::now() + timeout, timeout);
        let found = lookup.addresses((host, 3306), deadline, interrupter);
        found.map_err(|failure| failure.to_string())
    }

    #[test]
    fn an_address_is_not_looked_up_and_a_name_is() {
        let never = Lookup::by(|_, _| panic!("an address needs no name server"));
        for (host, shown) in [("127.0.0.1", "127.0.0.1:3306"), ("::1", "[::1]:3306")] {
            let found = ask(&never, host, LONG, &Interrupter::default()).unwrap();
            assert_eq!(found[0].to_string(), shown);
        }
        let found = ask(&Lookup::default(), "localhost", LONG, &Interrupter::default()).unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback()) && !found.is_empty());
        let unknown = ask(&Lookup::default(), "no such host", LONG, &Interrupter::default()).unwrap_err();
        assert!(unknown.starts_with("unknown host ("), "{unknown}");
    }

    #[test]
    fn a_resolver_that_hangs_is_left_at_the_deadline_or_when_interrupted() {
        static HANGING: AtomicU32 = AtomicU32::new(0);
        let hung = || {
            Lookup::by(|_, _| {
                HANGING.fetch_add(1, Ordering::Relaxed);
                loop {
                    thread::park();
                }
            })
        };
        let failure = ask(&hung(), "db", Duration::from_millis(20), &Interrupter::default()).unwrap_err();
        assert!(
            failure.starts_with("its name was not looked up within 20ms"),
            "{failure}"
        );
        let (hung, interrupter) = (hung(), Interrupter::default());
        thread::scope(|scope| {
            let asked = scope.spawn(|| ask(&hung, "db", LONG, &interrupter).unwrap_err());
            while HANGING.load(Ordering::Relaxed) < 2 {
                thread::yield_now();
            }
            interrupter.interrupt();
            assert_eq!(asked.join().unwrap(), ConnectFailure::Interrupted.to_string());
        });
        let again = ask(&hung, "db", LONG, &interrupter).unwrap_err();
        assert_eq!(again, ConnectFailure::Interrupted.to_string());
    }

    #[test]
    fn all_who_ask_at_the_same_time_share_one_lookup_and_the_next_makes_another() {
        static LOOKUPS: AtomicU32 = AtomicU32::new(0);
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let lookup = Lookup::by(|_, port| {
            LOOKUPS.fetch_add(1, Ordering::Relaxed);
            while ASKED.load(Ordering::Relaxed) < 8 {
                thread::yield_now();
            }
            Ok(vec![SocketAddr::from(([10, 0, 0, 1], port))])
        });
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let (asker, answer) = channel();
                    lookup.ask("db", 3306, asker).unwrap();
                    ASKED.fetch_add(1, Ordering::Relaxed);
                    assert!(matches!(answer.recv().unwrap(), Looked::Found(found) if found.len() == 1));
                });
            }
        });
        assert_eq!(LOOKUPS.load(Ordering::Relaxed), 1);
        ask(&lookup, "db", LONG, &Interrupter::default()).unwrap();
        assert_eq!(LOOKUPS.load(Ordering::Relaxed), 2);
    }
}
