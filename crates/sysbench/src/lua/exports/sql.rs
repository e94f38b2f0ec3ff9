//! `sysbench.sql` as functions of C.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::atomic::Ordering;

use super::{bytes, keep};
use crate::log::Level;
use crate::lua::host::guarded;
use crate::lua::slab::Faced as _;
use crate::lua::sql::{
    Connection, ConnectionFace, DriverFace, ParamFace, ResultFace, RowFace, Sql, StatementFace, result_of,
};
use crate::lua::thread_context::ThreadContext;

keep!(SQL:
    db_create, db_connection_create, db_connection_close, db_connection_reconnect, db_connection_free, db_query,
    db_more_results, db_next_result, db_fetch_row, db_free_results, db_bulk_insert_init, db_bulk_insert_next,
    db_bulk_insert_done, db_prepare, db_bind_create, db_bind_param, db_execute, db_close, db_statement_free, db_param_free,
    db_param_fill);

/// The one driver there is.
struct Driver(DriverFace);

// SAFETY: its text is a constant.
unsafe impl Sync for Driver {}

static MYSQL: Driver = Driver(DriverFace {
    sname: c"mysql".as_ptr(),
});

fn with_sql<R>(fallback: R, action: impl FnOnce(&ThreadContext, &mut Sql) -> R) -> R {
    guarded(fallback, |host| action(&host.thread, &mut host.sql.borrow_mut()))
}

fn with_connection<R>(
    fallback: R,
    face: *const ConnectionFace,
    action: impl FnOnce(&ThreadContext, &mut Connection) -> R,
) -> R
where
    R: Copy,
{
    with_sql(fallback, |thread, sql| {
        sql.connection(thread, face)
            .map_or(fallback, |connection| action(thread, connection))
    })
}

/// Finds a driver by its name; null for that of `--db-driver`. Null when there is none, which is said.
///
/// # Safety
/// A name that is not null ends with a zero byte.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_create(name: *const c_char) -> *const DriverFace {
    // SAFETY: the caller's.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
    guarded(null(), |host| {
        match name.as_deref().unwrap_or(&host.thread.shared.config.driver) {
            "mysql" => {
                host.thread.shared.has_driver.store(true, Ordering::Relaxed);
                return &raw const MYSQL.0;
            }
            "pgsql" => host.thread.log(
                Level::Fatal,
                "the pgsql driver is not supported: this program speaks MySQL's protocol only",
            ),
            other => host
                .thread
                .log(Level::Fatal, format_args!("invalid database driver name: '{other}'")),
        }
        null()
    })
}

#[unsafe(no_mangle)]
extern "C" fn db_connection_create(driver: *const DriverFace) -> *mut ConnectionFace {
    with_sql(null_mut(), |thread, sql| {
        if !std::ptr::eq(driver, &raw const MYSQL.0) {
            thread.log(Level::Alert, "attempt to use an invalid database driver");
            return null_mut();
        }
        let index = sql.connections.add();
        let connection = sql.connections.at(index);
        if connection.open(thread, driver.cast()) {
            return connection.face();
        }
        sql.connections.release(index);
        null_mut()
    })
}

#[unsafe(no_mangle)]
extern "C" fn db_connection_close(connection: *const ConnectionFace) -> bool {
    with_connection(false, connection, |thread, connection| {
        if !connection.is_open() {
            thread.log(Level::Alert, "attempt to close an already closed connection");
            return false;
        }
        connection.close(thread);
        true
    })
}

#[unsafe(no_mangle)]
extern "C" fn db_connection_reconnect(connection: *const ConnectionFace) -> bool {
    with_connection(false, connection, |thread, connection| connection.reconnect(thread))
}

#[unsafe(no_mangle)]
extern "C" fn db_connection_free(connection: *const ConnectionFace) {
    with_sql((), |thread, sql| sql.release_connection(thread, connection));
}

/// # Safety
/// `query` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_query(connection: *mut ConnectionFace, query: *const c_char, length: usize) -> *mut ResultFace {
    // SAFETY: the caller's.
    let query = unsafe { bytes(query, length) };
    let has_result = with_connection(false, connection, |thread, connection| connection.query(thread, query));
    if has_result { result_of(connection) } else { null_mut() }
}

#[unsafe(no_mangle)]
extern "C" fn db_more_results(connection: *const ConnectionFace) -> bool {
    with_connection(false, connection, |thread, connection| {
        connection.check_open(thread) && connection.has_more_results()
    })
}

#[unsafe(no_mangle)]
extern "C" fn db_next_result(connection: *mut ConnectionFace) -> *mut ResultFace {
    let has_result = with_connection(false, connection, |thread, connection| {
        connection.check_open(thread) && connection.next_result()
    });
    if has_result { result_of(connection) } else { null_mut() }
}

#[unsafe(no_mangle)]
extern "C" fn db_fetch_row(result: *const ResultFace) -> *const RowFace {
    with_sql(null(), |thread, sql| sql.fetch_row(thread, result))
}

/// 0 when it was freed.
#[unsafe(no_mangle)]
extern "C" fn db_free_results(result: *const ResultFace) -> c_int {
    with_sql(1, |thread, sql| c_int::from(!sql.free_result(thread, result)))
}

/// 0 when it begins.
///
/// # Safety
/// `head` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_bulk_insert_init(
    connection: *const ConnectionFace,
    head: *const c_char,
    length: usize,
) -> c_int {
    // SAFETY: the caller's.
    let head = unsafe { bytes(head, length) };
    with_connection(1, connection, |thread, connection| {
        c_int::from(!connection.bulk_init(thread, head))
    })
}

/// 0 when the row was taken.
///
/// # Safety
/// `row` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_bulk_insert_next(
    connection: *const ConnectionFace,
    row: *const c_char,
    length: usize,
) -> c_int {
    // SAFETY: the caller's.
    let row = unsafe { bytes(row, length) };
    with_connection(1, connection, |thread, connection| {
        c_int::from(!connection.bulk_next(thread, row))
    })
}

/// 0 when all rows were sent.
#[unsafe(no_mangle)]
extern "C" fn db_bulk_insert_done(connection: *const ConnectionFace) -> c_int {
    with_connection(1, connection, |thread, connection| {
        c_int::from(!connection.bulk_done(thread))
    })
}

/// # Safety
/// `query` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_prepare(
    connection: *const ConnectionFace,
    query: *const c_char,
    length: usize,
) -> *mut StatementFace {
    // SAFETY: the caller's.
    let query = unsafe { bytes(query, length) };
    with_sql(null_mut(), |thread, sql| sql.prepare(thread, connection, query))
}

/// A parameter of a type of `sysbench.sql.type`, with so much room for text; null when it cannot be.
#[unsafe(no_mangle)]
extern "C" fn db_bind_create(kind: c_int, max_length: u64) -> *mut ParamFace {
    with_sql(null_mut(), |_, sql| sql.create_param(kind, max_length))
}

/// 0 when they were bound.
///
/// # Safety
/// `params` has `count` pointers.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_bind_param(
    statement: *const StatementFace,
    params: *const *const ParamFace,
    count: usize,
) -> c_int {
    let params = match count {
        _ if params.is_null() => &[],
        // SAFETY: the caller's.
        _ => unsafe { slice::from_raw_parts(params, count) },
    };
    with_sql(1, |thread, sql| c_int::from(!sql.bind(thread, statement, params)))
}

#[unsafe(no_mangle)]
extern "C" fn db_execute(statement: *const StatementFace) -> *mut ResultFace {
    with_sql(null_mut(), |thread, sql| sql.execute(thread, statement))
}

/// 0 when it was one.
#[unsafe(no_mangle)]
extern "C" fn db_close(statement: *const StatementFace) -> c_int {
    with_sql(1, |_, sql| c_int::from(!sql.close_statement(statement)))
}

#[unsafe(no_mangle)]
extern "C" fn db_statement_free(statement: *const StatementFace) {
    with_sql((), |thread, sql| sql.release_statement(thread, statement));
}

#[unsafe(no_mangle)]
extern "C" fn db_param_free(param: *const ParamFace) {
    with_sql((), |_, sql| sql.release_param(param));
}

/// Copies text into a parameter, as much as there is room for; with `is_template` each `#` becomes a digit and each `@` a
/// letter.
///
/// # Safety
/// `text` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_param_fill(param: *const ParamFace, text: *const c_char, length: usize, is_template: bool) {
    // SAFETY: the caller's.
    let text = unsafe { bytes(text, length) };
    guarded((), |host| {
        let mut sql = host.sql.borrow_mut();
        let Some(index) = sql.params.find(param) else { return };
        let param = sql.params.at(index);
        let room = param.text_mut();
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text[..taken]);
        if is_template {
            host.draws.borrow_mut().fill(&mut room[..taken]);
        }
        param.set_length(taken);
    });
}
