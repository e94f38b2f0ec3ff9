//! The server's public key, from the file that the user names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::ConnectFailure;

/// A key of 16,384 bits takes 3 KB.
const BYTES_MAX: u64 = 64 * 1024;

/// Reads the file. What is in it is checked when it is used.
pub fn read_server_key(path: &Path) -> Result<Vec<u8>, ConnectFailure> {
    let mut pem = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut pem));
    match read {
        Ok(_) => Ok(pem),
        Err(error) => {
            let fault = format!("{} cannot be read: {error}", path.display());
            Err(ConnectFailure::ServerKeyFile(fault))
        }
    }
}
