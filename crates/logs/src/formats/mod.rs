//! Parsers of log formats: bytes or lines in, entries out. They know nothing of files.

pub mod audit;
pub mod binlog;
pub mod detect;
pub mod general;
pub mod header;
pub mod slow;

use plimsoll_core::plan::AuditPlan;

use crate::entry::Found;
use crate::lines::Lines;
use audit::AuditParser;
use binlog::{BinlogParser, Encrypted};
use detect::Detected;
use general::GeneralParser;
use slow::SlowParser;

/// The parser of one format.
#[derive(Debug)]
pub enum Parser {
    /// Slow logs.
    Slow(Box<SlowParser>),
    /// General logs.
    General(Box<GeneralParser>),
    /// Audit logs.
    Audit(Box<AuditParser>),
    /// Binary logs.
    Binlog(Box<BinlogParser>),
}

impl Parser {
    /// Of a format that was detected.
    pub fn of(detected: Detected, local_offset_s: i32, seconds_are_ends: bool) -> Self {
        match detected {
            Detected::Slow => Self::Slow(Box::new(SlowParser::new(local_offset_s, seconds_are_ends))),
            Detected::General => Self::General(Box::new(GeneralParser::new(local_offset_s))),
            Detected::Binlog => Self::Binlog(Box::default()),
        }
    }

    /// Of audit logs with these columns.
    pub fn audit(plan: &AuditPlan, local_offset_s: i32) -> Self {
        Self::Audit(Box::new(AuditParser::new(plan.clone(), local_offset_s)))
    }

    /// Whether it reads this format.
    pub fn reads(&self, detected: Detected) -> bool {
        match self {
            Self::Slow(_) => detected == Detected::Slow,
            Self::General(_) => detected == Detected::General,
            Self::Audit(_) => false,
            Self::Binlog(_) => detected == Detected::Binlog,
        }
    }

    /// As facts name it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Slow(_) => "slow",
            Self::General(_) => "general",
            Self::Audit(_) => "audit",
            Self::Binlog(_) => "binlog",
        }
    }

    /// Whether entries had fields of extended formats.
    pub fn is_extended(&self) -> bool {
        matches!(self, Self::Slow(parser) if parser.is_extended())
    }

    /// Takes the next bytes. An error says that the rest is encrypted.
    pub fn feed(&mut self, bytes: &[u8], lines: &mut Lines, found: &mut impl Found) -> Result<(), Encrypted> {
        match self {
            Self::Slow(parser) => lines.feed(bytes, &mut |line| parser.line(&line, found)),
            Self::General(parser) => lines.feed(bytes, &mut |line| parser.line(&line, found)),
            Self::Audit(parser) => lines.feed(bytes, &mut |line| parser.line(&line, found)),
            Self::Binlog(parser) => return parser.feed(bytes, found),
        }
        Ok(())
    }

    /// The log ended.
    pub fn end(&mut self, lines: &mut Lines, found: &mut impl Found) {
        match self {
            Self::Slow(parser) => {
                lines.end(&mut |line| parser.line(&line, found));
                parser.end(found);
            }
            Self::General(parser) => {
                lines.end(&mut |line| parser.line(&line, found));
                parser.end(found);
            }
            Self::Audit(parser) => {
                lines.end(&mut |line| parser.line(&line, found));
                parser.end(found);
            }
            Self::Binlog(parser) => parser.end(found),
        }
    }
}
