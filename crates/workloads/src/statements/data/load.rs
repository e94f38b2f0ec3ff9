//! Makes tables: created empty and marked as unfinished, filled by several connections, then indexed, analysed, and
//! marked as complete. Rows go as those of the OLTP tables do (see `crate::data::load`).

use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_core::message::FailureClass;
use plimsoll_core::plan::{DataPlan, LoadMethod, TablePlan};
use plimsoll_engine::WorkerFault;
use plimsoll_session::{Kept, Reply};
use plimsoll_wire::{Connection, WireError};

use crate::control;
use crate::data::crew::{Crew, Meter};
use crate::data::fault::blame;
use crate::data::load::{ATTEMPTS_MAX, INSERT_BYTES, LOAD_ROWS, PIECE_BYTES, is_passing, is_refusal};
use crate::statements::rows::{Style, TableRows};
use crate::statements::table::{Mark, State, create_sql, index_sql, quoted, quoted_list};

/// Rows `first`..`end` of one table, counted from 0, of which there are fewer than 2^32: what one loader does in one go.
#[derive(Clone, Copy)]
struct Slice<'a> {
    table: &'a TablePlan,
    first: u32,
    end: u32,
}

/// Makes these tables.
///
/// # Errors
/// Whatever the server says; unfinished tables stay marked as such.
pub fn make(crew: &mut Crew<'_>, tables: &[&TablePlan], plan: &DataPlan, seed: u64) -> Result<(), WorkerFault> {
    if tables.is_empty() {
        return Ok(());
    }
    let count = tables.len() as u64;
    crew.work("create", count, tables, |connection, table, meter| {
        run(connection, &create_sql(table, seed), &format!("create {}", table.name))?;
        meter.add(1);
        Ok(())
    })?;
    let loader = Loader::new(plan, seed)?;
    let slices = slices(tables, crew.size());
    let rows: u64 = tables.iter().map(|table| table.rows).sum();
    crew.work("load", rows, &slices, |connection, slice, meter| {
        loader.load(connection, *slice, meter)
    })?;
    crew.work("index", count, tables, |connection, table, meter| {
        if let Some(sql) = index_sql(table) {
            run(connection, &sql, &format!("index {}", table.name))?;
        }
        meter.add(1);
        Ok(())
    })?;
    crew.work("analyze", count, tables, |connection, table, meter| {
        complete(connection, table, seed)?;
        meter.add(1);
        Ok(())
    })
}

/// As many slices for each table as keep all loaders busy, in the order of the rows.
fn slices<'a>(tables: &[&'a TablePlan], loaders: usize) -> Vec<Slice<'a>> {
    let part_count = loaders.div_ceil(tables.len().max(1)) as u64;
    let of_table = |table: &&'a TablePlan| {
        let table = *table;
        let end = move |part: u64| (table.rows * part / part_count) as u32;
        (0..part_count).map(move |part| Slice {
            table,
            first: end(part),
            end: end(part + 1),
        })
    };
    tables.iter().flat_map(of_table).collect()
}

/// Brings the statistics up to date, and then says that the table is complete.
fn complete(connection: &mut Connection, table: &TablePlan, seed: u64) -> Result<(), WorkerFault> {
    let name = quoted(&table.name);
    run(
        connection,
        &format!("ANALYZE TABLE {name}"),
        &format!("analyze {}", table.name),
    )?;
    let mark = Mark::new(table, seed, State::Complete).text();
    run(
        connection,
        &format!("ALTER TABLE {name} COMMENT = '{mark}'"),
        &format!("complete {}", table.name),
    )
}

fn run(connection: &mut Connection, sql: &str, doing: &str) -> Result<(), WorkerFault> {
    connection.query(sql).map(|_| ()).map_err(|error| blame(&error, doing))
}

struct Loader {
    seed: u64,
    insert_bytes: usize,
    /// Falls to false when the server turns out to refuse LOAD DATA LOCAL.
    local: AtomicBool,
}

impl Loader {
    fn new(plan: &DataPlan, seed: u64) -> Result<Self, WorkerFault> {
        let mut control = control::open(&plan.target)?;
        let rows = control.query_rows("SELECT @@local_infile, @@max_allowed_packet", 1);
        let rows = rows.map_err(|error| blame(&error, "ask for limits"))?;
        control.close();
        let number = |at: usize| rows.first()?.get(at)?.as_ref()?.parse::<usize>().ok();
        let packet_bytes = number(1).unwrap_or(INSERT_BYTES);
        Ok(Self {
            seed,
            insert_bytes: INSERT_BYTES.min(packet_bytes.saturating_sub(1024)),
            local: AtomicBool::new(plan.method == LoadMethod::Auto && number(0) == Some(1)),
        })
    }

    fn load(&self, connection: &mut Connection, slice: Slice<'_>, meter: &Meter) -> Result<(), WorkerFault> {
        let rows = TableRows::new(slice.table, self.seed);
        let doing = format!("load rows into {}", slice.table.name);
        let (mut rest, mut attempt) = (slice, 1);
        while rest.first < rest.end && !meter.stopped() {
            let loaded = if self.local.load(Ordering::Relaxed) {
                load_local(connection, &rows, rest)
            } else {
                self.insert(connection, &rows, rest)
            };
            match loaded {
                Ok(loaded) => {
                    loaded.taken_as_sent(connection, slice.table)?;
                    rest.first += loaded.rows;
                    meter.add(u64::from(loaded.rows));
                    attempt = 1;
                }
                Err(error) if is_refusal(&error) => self.local.store(false, Ordering::Relaxed),
                Err(error) if is_passing(&error) && attempt < ATTEMPTS_MAX => attempt += 1,
                Err(error) => return Err(blame(&error, &doing)),
            }
        }
        Ok(())
    }

    /// One INSERT of as many rows as fit.
    fn insert(&self, connection: &mut Connection, rows: &TableRows, rest: Slice<'_>) -> Result<Loaded, WireError> {
        let mut sql = format!(
            "INSERT INTO {} ({}) VALUES ",
            quoted(&rest.table.name),
            columns(rest.table)
        )
        .into_bytes();
        let (mut row, mut kept) = (rest.first, Kept::default());
        while row < rest.end && (row == rest.first || sql.len() + rows.bytes_max() <= self.insert_bytes) {
            rows.push(row, Style::Tuple, &mut kept, &mut sql);
            row += 1;
        }
        sql.pop();
        let reply = connection.query(std::str::from_utf8(&sql).expect("values are text"))?;
        Ok(Loaded {
            rows: row - rest.first,
            reply,
        })
    }
}

/// One LOAD DATA.
fn load_local(connection: &mut Connection, rows: &TableRows, rest: Slice<'_>) -> Result<Loaded, WireError> {
    let end = rest.end.min(rest.first.saturating_add(LOAD_ROWS as u32));
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'plimsoll' INTO TABLE {} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY X'09' ESCAPED BY X'5C' LINES TERMINATED BY X'0A' ({})",
        quoted(&rest.table.name),
        columns(rest.table)
    );
    let (mut row, mut kept) = (rest.first, Kept::default());
    let reply = connection.load_local(&sql, &mut |piece| {
        while row < end && piece.len() < PIECE_BYTES {
            rows.push(row, Style::Line, &mut kept, piece);
            row += 1;
        }
        row < end
    })?;
    Ok(Loaded {
        rows: row - rest.first,
        reply,
    })
}

fn columns(table: &TablePlan) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    quoted_list(&names)
}

/// What became of the rows of one statement.
struct Loaded {
    rows: u32,
    reply: Reply,
}

impl Loaded {
    /// LOAD DATA LOCAL passes over rows whose key is there already and cuts values that do not fit, with a warning each.
    fn taken_as_sent(&self, connection: &mut Connection, table: &TablePlan) -> Result<(), WorkerFault> {
        let (sent, taken) = (u64::from(self.rows), self.reply.rows_affected);
        if sent == taken && self.reply.warnings == 0 {
            return Ok(());
        }
        let rows = connection.query_rows("SHOW WARNINGS LIMIT 1", 1);
        let rows = rows.map_err(|error| blame(&error, "ask for warnings"))?;
        let said = rows.first().and_then(|row| row.last()?.clone()).unwrap_or_default();
        let message = format!(
            "load rows into {}: of {sent} rows the server took {taken}, not all as they were sent ({}): make the column's \
             type fit its values, and let the generators of keys give each row another value",
            table.name,
            if said.is_empty() { "no warning" } else { &said }
        );
        Err(WorkerFault::new(FailureClass::Target, message))
    }
}
