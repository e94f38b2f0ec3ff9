//! Which version of sysbench is spoken, where versions differ.

/// A version of sysbench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compat {
    /// 0.4: `--test=oltp`.
    V04,
    /// 1.0, the default: what distributions ship.
    #[default]
    V10,
    /// 1.1, which was never released.
    V11,
}

impl Compat {
    /// Reads what a user writes.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "1.0" => Some(Self::V10),
            "1.1" => Some(Self::V11),
            _ => None,
        }
    }

    /// As it is shown where sysbench shows its version.
    pub fn version(self) -> &'static str {
        match self {
            Self::V04 => "0.4.12",
            Self::V10 => "1.0.20",
            Self::V11 => "1.1.0",
        }
    }

    /// As scripts and `--version` show it.
    pub fn long_version(self) -> String {
        format!("sysbench {} (Plimsoll {})", self.version(), env!("CARGO_PKG_VERSION"))
    }
}
