//! Connecting to a server that counts connections which were closed a moment ago.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::WireError;

/// How long a server may take to notice that a connection was closed.
const NOTICED_WITHIN: Duration = Duration::from_millis(300);

const PAUSE: Duration = Duration::from_millis(20);

/// "Too many connections": of the server, of an account at the same time, and of an account by its resources.
const FULL_CODES: [u16; 3] = [1040, 1203, 1226];

/// Connects, and tries again for a moment where there is no room: one that was closed just now may still count.
///
/// # Errors
/// Those of the last attempt.
pub fn retry_while_full<T>(mut connect: impl FnMut() -> Result<T, WireError>) -> Result<T, WireError> {
    let begin = Instant::now();
    loop {
        match connect() {
            Err(error) if is_full(&error) && begin.elapsed() < NOTICED_WITHIN => sleep(PAUSE),
            outcome => return outcome,
        }
    }
}

fn is_full(error: &WireError) -> bool {
    error.server_code().is_some_and(|code| FULL_CODES.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::reply::ServerError;

    fn refused(code: u16) -> WireError {
        WireError::Server(ServerError {
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
    fn a_server_that_stays_full_is_believed() {
        let outcome = retry_while_full(|| Err::<(), _>(refused(1040)));
        assert_eq!(outcome.unwrap_err().server_code(), Some(1040));
    }
}
