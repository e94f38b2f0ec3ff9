//! Connecting to a server that has no room for a moment, or too much to do to let somebody in.

use std::thread::sleep;
use std::time::{Duration, Instant};

use plimsoll_core::fault::FaultKind;

use crate::error::{Cause, ConnectFailure, WireError};

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
pub fn retry_login<T>(mut connect: impl FnMut() -> Result<T, WireError>) -> Result<T, WireError> {
    let begin = Instant::now();
    let mut attempts = 1;
    loop {
        match retry_while_full(&mut connect) {
            Err(error) if is_broken(&error) && attempts < LOGINS_MAX && begin.elapsed() < LOGINS_WITHIN => {
                attempts += 1;
                sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Connects, and tries again for a moment where there is no room: one that was closed just now may still count.
///
/// # Errors
/// Those of the last attempt.
pub fn retry_while_full<T>(mut connect: impl FnMut() -> Result<T, WireError>) -> Result<T, WireError> {
    let begin = Instant::now();
    loop {
        match connect() {
            Err(error) if error.kind() == FaultKind::Full && begin.elapsed() < NOTICED_WITHIN => sleep(PAUSE),
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
    use crate::codec::reply::ServerError;

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
            let outcome = retry_while_full(|| left.next().map_or(Ok(()), |code| Err(refused(*code))));
            (codes.len() - left.len(), outcome.map_err(|error| error.server_code()))
        };
        assert_eq!(attempts_of(&[1226, 1040, 1203]), (3, Ok(())));
        assert_eq!(attempts_of(&[1040, 1045, 1040]), (2, Err(Some(1045))));
    }

    #[test]
    fn a_login_that_breaks_is_tried_three_times_at_most() {
        let attempts_of = |failures: Vec<WireError>| {
            let mut left = failures.into_iter();
            let outcome = retry_login(|| left.next().map_or(Ok(()), Err));
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
        let outcome = retry_while_full(|| Err::<(), _>(refused(1040)));
        assert_eq!(outcome.unwrap_err().server_code(), Some(1040));
    }
}
