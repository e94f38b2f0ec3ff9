//! Connecting to a server that has no room for a moment, or too much to do to let somebody in.

use std::time::Duration;

use plimsoll_core::fault::FaultKind;
use plimsoll_wire::{Cause, ConnectFailure, WireError};

use crate::clock::Clock;

/// How long a server may take to notice that a connection was closed.
const NOTICED_WITHIN: Duration = Duration::from_millis(300);

const PAUSE: Duration = Duration::from_millis(20);

/// How often a login is tried that breaks.
const LOGINS_MAX: u32 = 3;

/// After so long a login that breaks is not tried again: one that had no answer has waited long enough by then.
const LOGINS_WITHIN: Duration = Duration::from_secs(15);

/// Connects for a load that is to begin, as [`retry_while_full`] does. A login that breaks, or has no answer in time, is tried
/// again: a busy machine drops one of hundreds.
///
/// # Errors
/// Those of the last attempt.
pub fn retry_login<T>(clock: &dyn Clock, mut connect: impl FnMut() -> Result<T, WireError>) -> Result<T, WireError> {
    let until_ns = clock.after(LOGINS_WITHIN);
    let mut attempts = 1;
    loop {
        match retry_while_full(clock, &mut connect) {
            Err(error) if is_broken(&error) && attempts < LOGINS_MAX && clock.monotonic_ns() < until_ns => {
                attempts += 1;
                clock.sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Connects, and tries again for a moment where there is no room: one that was closed just now may still count.
///
/// # Errors
/// Those of the last attempt.
pub fn retry_while_full<T>(
    clock: &dyn Clock,
    mut connect: impl FnMut() -> Result<T, WireError>,
) -> Result<T, WireError> {
    let until_ns = clock.after(NOTICED_WITHIN);
    loop {
        match connect() {
            Err(error) if error.kind() == FaultKind::Full && clock.monotonic_ns() < until_ns => clock.sleep(PAUSE),
            outcome => return outcome,
        }
    }
}

/// Whether the server took the connection, and no login came of it.
fn is_broken(error: &WireError) -> bool {
    let Cause::Connect { failure, .. } = error.cause() else {
        return false;
    };
    matches!(failure, ConnectFailure::HungUp | ConnectFailure::Silent(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Bell;
    use plimsoll_wire::ServerError;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Time goes by where somebody sleeps, and not otherwise.
    #[derive(Default)]
    struct Sleeps(AtomicU64);

    impl Clock for Sleeps {
        fn monotonic_ns(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn unix_ns(&self) -> u64 {
            self.monotonic_ns()
        }

        fn wait(&self, _bell: &Bell, until_ns: u64, is_over: &dyn Fn() -> bool) -> bool {
            self.0.store(until_ns, Ordering::Relaxed);
            is_over()
        }
    }

    fn refused(code: u16) -> WireError {
        WireError::from(ServerError {
            code,
            sqlstate: "HY000".to_owned(),
            message: String::new(),
        })
    }

    #[test]
    fn only_a_server_without_room_is_asked_again() {
        let attempts_of = |codes: &[u16]| {
            let mut left = codes.iter();
            let outcome = retry_while_full(&Sleeps::default(), || {
                left.next().map_or(Ok(()), |code| Err(refused(*code)))
            });
            (codes.len() - left.len(), outcome.map_err(|error| error.server_code()))
        };
        assert_eq!(attempts_of(&[1226, 1040, 1203]), (3, Ok(())));
        assert_eq!(attempts_of(&[1040, 1045, 1040]), (2, Err(Some(1045))));
    }

    #[test]
    fn a_login_that_breaks_is_tried_three_times_at_most() {
        let attempts_of = |failures: Vec<WireError>| {
            let mut left = failures.into_iter();
            let outcome = retry_login(&Sleeps::default(), || left.next().map_or(Ok(()), Err));
            (left.len(), outcome.is_ok())
        };
        let failed = |failure| {
            let endpoint = String::new();
            WireError::from(Cause::Connect { endpoint, failure })
        };
        let broken = || failed(ConnectFailure::HungUp);
        assert_eq!(
            attempts_of(vec![broken(), failed(ConnectFailure::Silent(PAUSE))]),
            (0, true)
        );
        assert_eq!(attempts_of(vec![broken(), broken(), broken(), broken()]), (1, false));
        assert_eq!(attempts_of(vec![failed(ConnectFailure::Refused), broken()]), (1, false));
        assert_eq!(
            attempts_of(vec![refused(1040), broken(), refused(1045), broken()]),
            (1, false)
        );
    }

    #[test]
    fn a_server_that_stays_full_is_believed() {
        let (clock, attempts) = (Sleeps::default(), Cell::new(0));
        let outcome = retry_while_full(&clock, || {
            attempts.set(attempts.get() + 1);
            Err::<(), _>(refused(1040))
        });
        assert_eq!(outcome.unwrap_err().server_code(), Some(1040));
        // One each 20 ms, until 300 ms are over.
        assert_eq!((attempts.get(), clock.monotonic_ns()), (16, 300_000_000));
    }
}
