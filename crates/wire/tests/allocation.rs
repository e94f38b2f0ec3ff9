//! A successful statement whose rows fit the buffer allocates nothing in its thread.

#![allow(unsafe_code)] // an allocator that counts

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::{Script, Sim};
use plimsoll_wire::{ConnectOptions, Connection, FirstRow, Sink, Value};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts allocations of each thread for itself, so that the fake server's do not count.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; the counter is a plain cell that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of(mut act: impl FnMut()) -> u64 {
    act(); // what is kept is allocated by the first call
    let before = ALLOCATIONS.get();
    for _ in 0..10 {
        act();
    }
    ALLOCATIONS.get() - before
}

#[test]
fn successful_statements_allocate_nothing() {
    let sim = Sim::start(Script {
        rows: 100,
        row_bytes: 130,
        ..Script::default()
    })
    .unwrap();
    let target = Target {
        endpoint: Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: sim.port(),
        },
        user: "user".to_owned(),
        password: Secret::default(),
        database: String::new(),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    let mut connection = Connection::open(&target, &ConnectOptions::default()).unwrap();
    let select = connection.prepare("SELECT c FROM t WHERE id BETWEEN ? AND ?").unwrap();
    let update = connection.prepare("UPDATE t SET c = ? WHERE id = ?").unwrap();
    let text = "x".repeat(120);
    let mut kept = FirstRow::new(vec!["c".to_owned()]);
    let count = allocations_of(|| {
        let reply = connection.execute(&select, &[Value::Int(1), Value::Int(100)]).unwrap();
        assert_eq!(reply.rows_returned, 100);
        connection
            .execute(&update, &[Value::Text(&text), Value::Int(1)])
            .unwrap();
        connection.query("SELECT c FROM t WHERE id BETWEEN 1 AND 100").unwrap();
        connection
            .run(&select, &[Value::Int(1), Value::Int(100)], Sink::First(&mut kept))
            .unwrap();
        assert!(kept.is_there());
        connection.ping().unwrap();
    });
    assert_eq!(count, 0);
    assert!(allocations_of(|| drop(text.clone())) > 0, "the counter counts");
}
