//! Reads the replies to commands from a channel, with all results, definitions, rows and requests for files in them.
//!
//! Deliberately not here: sending commands (`connection`), and values of rows unless a control query keeps them.

use crate::channel::Channel;
use crate::codec::definitions::Definitions;
use crate::codec::packet::{PACKET_BYTES_MAX, SkipUntil, ends_rows};
use crate::codec::reply::{OkPacket, ReplyHead, RowsEnd, ServerError};
use crate::codec::row::{TextRow, decode_text_row};
use crate::codec::session_track::gtid;
use crate::codec::statement::PrepareOk;
use crate::codec::{ProtocolError, ROWS_AFFECTED_MAX, ROWS_BYTES_MAX, printable};
use crate::error::{Cause, WireError};
use crate::first_row::FirstRow;
use crate::reply::Reply;
use crate::results::Results;
use crate::sink::{Take, TextRows};

/// Reads one reply.
pub struct Replies<'a> {
    pub channel: &'a mut Channel,
    /// Definitions that have not changed since the last execution are not sent.
    pub caches_metadata: bool,
    /// Those of the statement that is executed, where the server caches them.
    pub known: Option<&'a Definitions>,
    /// Where the GTID goes that the server tells of; `None` where it is not wanted.
    pub last_gtid: Option<&'a mut Vec<u8>>,
}

impl Replies<'_> {
    /// Reads the reply to a prepare, with the definitions of its result where they may be left out later.
    pub fn read_prepared(mut self) -> Result<(PrepareOk, Definitions), WireError> {
        let payload = self.channel.packet()?;
        if let [0xFF, ..] = payload {
            return Err(refusal(payload));
        }
        let (prepared, definitions) = (PrepareOk::decode(payload)?, Definitions::default());
        if prepared.parameter_count > 0 {
            self.skip_definitions(u64::from(prepared.parameter_count))?;
        }
        let columns = u64::from(prepared.column_count);
        match columns {
            0 => {}
            _ if self.caches_metadata => self.each_definition(columns, |payload| definitions.push(payload))?,
            _ => self.skip_definitions(columns)?,
        }
        Ok((prepared, definitions))
    }

    /// Skips so many definitions and their end.
    fn skip_definitions(&mut self, count: u64) -> Result<(), WireError> {
        if self.channel.skip(SkipUntil::Count(count))? < count {
            let payload = self.channel.packet()?;
            return Err(match payload {
                [0xFF, ..] => refusal(payload),
                _ => ProtocolError::Invalid {
                    what: "column definitions end too early",
                }
                .into(),
            });
        }
        self.end_definitions()
    }

    fn end_definitions(&mut self) -> Result<(), WireError> {
        OkPacket::decode_eof(self.channel.packet()?)?;
        Ok(())
    }

    /// Hands so many definitions over, and reads their end.
    fn each_definition(
        &mut self,
        count: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), ProtocolError>,
    ) -> Result<(), WireError> {
        for _ in 0..count {
            let payload = self.channel.packet()?;
            if let [0xFF, ..] = payload {
                return Err(refusal(payload));
            }
            take(payload)?;
        }
        self.end_definitions()
    }

    /// Reads the definitions that are sent, and takes those that are not from what is known of the statement.
    #[inline]
    fn read_definitions(&mut self, count: u64, are_sent: bool, take: &mut Take<'_>) -> Result<(), WireError> {
        let known = self.known.take(); // those of a second result are another statement's
        match (known, &mut *take) {
            (Some(known), _) if are_sent => {
                known.clear();
                self.each_definition(count, |payload| known.push(payload))?;
            }
            (None, Take::First(captured)) if are_sent => {
                self.each_definition(count, |payload| captured.define(payload))?;
            }
            (None, Take::Whole(captured)) if are_sent => {
                self.each_definition(count, |payload| captured.open_set().define(payload))?;
            }
            _ if are_sent => self.skip_definitions(count)?,
            _ => self.end_definitions()?,
        }
        match (known, take) {
            (Some(known), Take::First(captured)) => Ok(known.each(count, |payload| captured.define(payload))?),
            (Some(known), Take::Whole(captured)) => {
                Ok(known.each(count, |payload| captured.open_set().define(payload))?)
            }
            _ => Ok(()),
        }
    }

    /// Reads all results of one statement.
    #[inline]
    pub fn read(mut self, mut take: Take<'_>) -> Result<Reply, WireError> {
        let mut reply = Reply::default();
        loop {
            let (mut has_result_set, mut rows_returned) = (false, 0);
            if let Take::Whole(results) = &mut take {
                results.begin_set();
            }
            let payload = self.channel.packet()?;
            let end = match ReplyHead::decode(payload, self.caches_metadata)? {
                ReplyHead::Ok(ok) => {
                    if let Some(last_gtid) = &mut self.last_gtid {
                        if let Some(gtid) = gtid(payload)? {
                            last_gtid.clear();
                            last_gtid.extend_from_slice(gtid);
                        }
                    }
                    ok
                }
                ReplyHead::Error(error) => return Err(error.into()),
                ReplyHead::Columns { count, has_definitions } => {
                    self.read_definitions(count, has_definitions, &mut take)?;
                    let (rows, end) = self.read_rows(count, &mut take)?;
                    (has_result_set, rows_returned) = (true, rows);
                    end
                }
                ReplyHead::LocalFile(file) => {
                    let file = printable(file);
                    self.answer_file_request(file, &mut take)?
                }
            };
            let one = Reply {
                has_result_set,
                rows_returned,
                rows_affected: more_rows(0, end.rows_affected)?,
                last_insert_id: end.last_insert_id,
                warnings: end.warnings,
            };
            if let Take::Whole(results) = &mut take {
                results.end_set(one);
            }
            reply.has_result_set |= has_result_set;
            reply.rows_returned += rows_returned;
            reply.rows_affected = more_rows(reply.rows_affected, end.rows_affected)?;
            reply.last_insert_id = end.last_insert_id;
            reply.warnings = end.warnings;
            if !end.more_results {
                return Ok(reply);
            }
        }
    }

    fn read_rows(&mut self, columns: u64, take: &mut Take<'_>) -> Result<(u64, OkPacket), WireError> {
        let mut rows = 0;
        if let Take::First(captured) = take {
            rows += self.keep_first(captured)?;
            *take = Take::Nothing; // the row of a second result is another statement's
        }
        if let Take::Rows(captured) = take {
            rows += self.keep_rows(columns as usize, captured)?;
        }
        if let Take::Whole(results) = take {
            rows += self.keep_whole(results)?;
        }
        if let Take::Each(hand_over) = take {
            rows += self.each_row(columns as usize, hand_over)?;
        }
        rows += self.channel.skip(SkipUntil::RowsEnd)?;
        match RowsEnd::decode(self.channel.packet()?)? {
            RowsEnd::Ok(end) => Ok((rows, end)),
            RowsEnd::Error(error) => Err(error.into()),
        }
    }

    /// Bytes of the next row's first packet, which stays where it is; `None` at the end of the rows.
    #[inline]
    fn next_row(&mut self) -> Result<Option<usize>, WireError> {
        let (length, first) = self.channel.peek()?;
        let first = first.ok_or(ProtocolError::Invalid { what: "a row is empty" })?;
        Ok((!ends_rows(first, length)).then_some(length))
    }

    /// Reads the first row if there is one.
    fn keep_first(&mut self, captured: &mut FirstRow) -> Result<u64, WireError> {
        if self.next_row()?.is_none() {
            return Ok(0);
        }
        captured.payload.clear();
        self.channel.payload_into(&mut captured.payload, ROWS_BYTES_MAX)?;
        captured.take()?;
        Ok(1)
    }

    /// Keeps rows until they end or are too many; the rest is left to be skipped.
    fn keep_rows(&mut self, columns: usize, captured: &mut TextRows) -> Result<u64, WireError> {
        let mut payload = Vec::new();
        for rows in 0.. {
            match self.next_row()? {
                Some(length) if captured.has_room(length, columns) => {}
                _ => return Ok(rows),
            }
            payload.clear();
            self.channel.payload_into(&mut payload, ROWS_BYTES_MAX)?;
            captured.rows.push(decode_text_row(&payload, columns)?);
        }
        unreachable!("rows are counted in 64 bits")
    }

    /// Keeps rows until they end or are too many; the rest is left to be skipped.
    fn keep_whole(&mut self, results: &mut Results) -> Result<u64, WireError> {
        loop {
            let length = match self.next_row()? {
                Some(length) if results.has_room(length) => length,
                _ => return Ok(results.open_set().rows() as u64),
            };
            let end_max = results.row_end_max(length);
            let set = results.open_set();
            let begin = set.payloads.len();
            self.channel.payload_into(&mut set.payloads, end_max)?;
            let row_bytes = set.payloads.len() - begin;
            set.ends.push(set.payloads.len());
            results.count_rest(row_bytes - length);
        }
    }

    /// Hands each row over, in memory that is used again for the next.
    fn each_row(&mut self, columns: usize, hand_over: &mut dyn FnMut(&TextRow<'_>)) -> Result<u64, WireError> {
        let mut payload = Vec::new();
        for rows in 0.. {
            if self.next_row()?.is_none() {
                return Ok(rows);
            }
            payload.clear();
            self.channel.payload_into(&mut payload, ROWS_BYTES_MAX)?;
            hand_over(&TextRow::decode(&payload, columns)?);
        }
        unreachable!("rows are counted in 64 bits")
    }

    /// Sends what the caller has for a file, or an empty file when no file was to be asked for, and reads the verdict.
    fn answer_file_request(&mut self, file: String, take: &mut Take<'_>) -> Result<OkPacket, WireError> {
        let wanted = match std::mem::replace(take, Take::Nothing) {
            Take::File(next) => {
                self.send_file(next)?;
                true
            }
            _ => false,
        };
        self.channel.send_slice(&[])?;
        let end = match ReplyHead::decode(self.channel.packet()?, self.caches_metadata)? {
            ReplyHead::Ok(end) => Ok(end),
            ReplyHead::Error(error) => Err(error.into()),
            _ => Err(ProtocolError::Invalid {
                what: "a file was answered by neither OK nor error",
            }
            .into()),
        };
        if wanted {
            end
        } else {
            Err(Cause::LocalFileAsked { file }.into())
        }
    }

    fn send_file(&mut self, next: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<(), WireError> {
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            let more = next(&mut chunk);
            for packet in chunk.chunks(PACKET_BYTES_MAX) {
                self.channel.send_slice(packet)?;
            }
            if !more {
                return Ok(());
            }
        }
    }
}

/// Changed rows of all results so far; bounded, so that a server cannot make sums over many statements overflow.
#[inline]
fn more_rows(before: u64, added: u64) -> Result<u64, ProtocolError> {
    let size = before.saturating_add(added);
    if size <= ROWS_AFFECTED_MAX {
        return Ok(size);
    }
    Err(ProtocolError::TooLarge {
        what: "the number of changed rows",
        size,
        limit: ROWS_AFFECTED_MAX,
    })
}

#[cold]
fn refusal(error_packet: &[u8]) -> WireError {
    ServerError::decode(error_packet).map_or_else(WireError::from, WireError::from)
}
