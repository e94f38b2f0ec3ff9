//! A statement as it is sent: as text, or prepared before.

use crate::codec::statement::PreparedStatement;
use crate::error::{Cause, WireError};

/// What a connection runs.
#[derive(Clone, Copy, Debug)]
pub enum Statement<'a> {
    /// Text, with its values in it; several statements where [`ConnectOptions`](crate::ConnectOptions) allows that.
    Text(&'a [u8]),
    /// One that the same connection prepared.
    Prepared(&'a PreparedStatement),
}

impl Statement<'_> {
    /// Whether it takes so many values.
    #[inline]
    pub(crate) fn check_values(self, values: usize) -> Result<(), WireError> {
        let parameters = match self {
            Self::Text(_) => 0,
            Self::Prepared(prepared) => prepared.parameter_count,
        };
        if values == usize::from(parameters) {
            Ok(())
        } else {
            Err(Cause::ParameterCount { parameters, values }.into())
        }
    }
}

impl<'a> From<&'a str> for Statement<'a> {
    #[inline]
    fn from(sql: &'a str) -> Self {
        Self::Text(sql.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for Statement<'a> {
    #[inline]
    fn from(sql: &'a [u8]) -> Self {
        Self::Text(sql)
    }
}

impl<'a> From<&'a PreparedStatement> for Statement<'a> {
    #[inline]
    fn from(prepared: &'a PreparedStatement) -> Self {
        Self::Prepared(prepared)
    }
}
