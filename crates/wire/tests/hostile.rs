//! Servers that are none, lie, stall or never stop: always an error that says what happened, never a panic or a hang.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use plimsoll_core::plan::{Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_sim::Sim;
use plimsoll_sim::hostile::{Step, let_in};
use plimsoll_sim::packets::{self, packet};
use plimsoll_wire::{Cause, ConnectOptions, Connection, Reply, Results, Sink, WireError};

/// Long enough for a busy machine, where a login is to succeed or to fail for another reason than time.
const PATIENT: Duration = Duration::from_secs(20);
/// Where time is to run out.
const IMPATIENT: Duration = Duration::from_millis(300);

fn open_at(host: &str, port: u16, connect_timeout: Duration) -> Result<Connection, WireError> {
    let target = Target {
        endpoint: Endpoint::Tcp {
            host: host.to_owned(),
            port,
        },
        user: "user".to_owned(),
        password: Secret::new("secret".to_owned()),
        database: String::new(),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    Connection::open(
        &target,
        &ConnectOptions {
            connect_timeout,
            local_infile: true,
            ..ConnectOptions::default()
        },
    )
}

fn open(sim: &Sim) -> Result<Connection, WireError> {
    open_at("127.0.0.1", sim.port(), PATIENT)
}

/// What a user reads when a server greets like this; `{at}` stands for its address.
fn check_greeting(steps: Vec<Step>, expect: &str) {
    check_greeting_within(PATIENT, steps, expect);
}

fn check_greeting_within(timeout: Duration, steps: Vec<Step>, expect: &str) {
    let sim = Sim::play(steps).unwrap();
    let error = open_at("127.0.0.1", sim.port(), timeout).unwrap_err();
    let at = format!("127.0.0.1:{}", sim.port());
    assert_eq!(error.to_string(), expect.replace("{at}", &at));
}

#[test]
fn other_kinds_of_server_are_named() {
    check_greeting(
        vec![Step::Send(b"SSH-2.0-OpenSSH_9.2p1\r\n".to_vec()), Step::Hang],
        "{at} answered, but not with MySQL's protocol: it began with \"SSH-2.0-OpenSSH_9.2p1\"; is this the server's port?",
    );
    check_greeting(
        vec![Step::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())],
        "{at} answered, but not with MySQL's protocol: it began with \"HTTP/1.1 400 Bad Request\"; is this the server's port?",
    );
    check_greeting(
        vec![Step::Send(b"\x05\0\0\0\x0b\x08\x05\x1a\0".to_vec()), Step::Hang],
        "{at} answered, but not with MySQL's protocol: the protocol version in the server's greeting cannot have 0x0b here; \
         is this the server's port?",
    );
    let hung_up = "cannot connect to {at}: it closed the connection during the login; its error log may say why";
    check_greeting(vec![], hung_up);
    let greeting = packet(0, &packets::greeting("9.7.0", 1, true));
    check_greeting(vec![Step::Send(greeting[..20].to_vec())], hung_up);
    check_greeting(vec![Step::Send(greeting), Step::AwaitPacket], hung_up);
}

#[test]
fn a_login_may_take_only_so_long_in_all() {
    let expect = "cannot connect to {at}: it accepts connections, but answered no login within 300ms; \
                  does a MySQL server listen there?";
    check_greeting_within(IMPATIENT, vec![Step::Hang], expect);
    let bytes = packet(0, &packets::greeting("9.7.0", 1, true));
    let pause = Duration::from_millis(100);
    check_greeting_within(IMPATIENT, vec![Step::Trickle { bytes, pause }], expect);
}

#[test]
fn addresses_where_nobody_answers() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    assert_eq!(
        open_at("127.0.0.1", port, PATIENT).unwrap_err().to_string(),
        format!("cannot connect to 127.0.0.1:{port}: connection refused; is the server running there?")
    );
    let text = open_at("no-such-host.invalid", 3306, PATIENT).unwrap_err().to_string();
    assert!(
        text.starts_with("cannot connect to no-such-host.invalid:3306: unknown host ("),
        "{text}"
    );
    let socket = Target {
        endpoint: Endpoint::Socket {
            path: "/var/tmp/no-such-socket".into(),
        },
        user: String::new(),
        password: Secret::default(),
        database: String::new(),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    let error = Connection::open(&socket, &ConnectOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot connect to /var/tmp/no-such-socket: there is no such socket; is the server running, and is this its socket?"
    );
}

#[test]
fn a_socket_whose_server_takes_no_connections_is_given_up() {
    let path = PathBuf::from(format!("/var/tmp/plimsoll-wire-full-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _in_the_queue = UnixStream::connect(&path).unwrap();
    let target = Target {
        endpoint: Endpoint::Socket { path: path.clone() },
        user: String::new(),
        password: Secret::default(),
        database: String::new(),
        tls: Tls::Preferred,
        server_key: ServerKey::None,
    };
    let options = ConnectOptions {
        connect_timeout: IMPATIENT,
        ..ConnectOptions::default()
    };
    let error = Connection::open(&target, &options).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert!(error.to_string().contains("no answer within 300ms"), "{error}");
}

#[test]
fn errors_instead_of_a_greeting() {
    check_greeting(
        vec![Step::Send(packet(0, b"\xff\x10\x04Too many connections"))],
        "Too many connections (error 1040, SQLSTATE HY000); use fewer connections or raise the server's max_connections",
    );
    check_greeting(
        vec![Step::Send(packet(
            0,
            b"\xff\x6a\x04#HY000Host 'x' is not allowed to connect",
        ))],
        "Host 'x' is not allowed to connect (error 1130, SQLSTATE HY000); the server lets no account in from this host",
    );
}

/// A server that greets properly, and answers the login like this.
fn check_login(answers: Vec<Vec<u8>>, expect: &str) {
    let mut steps = vec![
        Step::Send(packet(0, &packets::greeting("9.7.0", 1, true))),
        Step::AwaitPacket,
    ];
    for (index, payload) in answers.into_iter().enumerate() {
        steps.push(Step::Send(packet(2 + 2 * index as u8, &payload)));
        steps.push(Step::AwaitPacket);
    }
    check_greeting(steps, expect);
}

#[test]
fn logins_that_go_wrong() {
    let not_mysql =
        |fault| format!("{{at}} answered, but not with MySQL's protocol: {fault}; is this the server's port?");
    check_login(
        vec![b"\xfemysql_clear_password\0".to_vec()],
        "the server wants to authenticate user 'user' by 'mysql_clear_password', which is not supported; \
         use an account with caching_sha2_password, mysql_native_password or client_ed25519",
    );
    check_login(
        vec![b"\x01\x04".to_vec()],
        &not_mysql("the method in use has no further packets"),
    );
    check_login(
        vec![b"\xfecaching_sha2_password\0short\0".to_vec()],
        &not_mysql("the challenge has another length than its method gives it"),
    );
    let switch = b"\xfecaching_sha2_password\0ABCDEFGHIJKLMNOPQRST\0".to_vec();
    check_login(
        vec![switch.clone(), b"\x01garbage".to_vec()],
        &not_mysql("a key came that nobody asked for"),
    );
    check_login(vec![switch; 20], &not_mysql("the login does not end"));
    check_login(
        vec![b"\x55".to_vec()],
        &not_mysql("a packet of the login cannot have 0x55 here"),
    );
}

/// Accepts the login, takes one command, answers like this.
fn reply_with(steps: Vec<Step>) -> Sim {
    let mut all = let_in();
    all.push(Step::AwaitPacket);
    all.extend(steps);
    Sim::play(all).unwrap()
}

fn check_query(answer: &[u8], expect: &str) {
    let sim = reply_with(vec![Step::Send(answer.to_vec())]);
    let expect = expect.replace("{at}", &format!("127.0.0.1:{}", sim.port()));
    for command in [Connection::query, |connection: &mut Connection, sql: &str| {
        connection.query_rows(sql, 10).map(|_| Reply::default())
    }] {
        let mut connection = open(&sim).unwrap();
        let error = command(&mut connection, "SELECT 1").unwrap_err();
        assert_eq!(error.to_string(), expect, "{answer:02x?}");
        assert!(matches!(connection.ping().unwrap_err().cause(), Cause::Closed { .. }));
    }
}

#[test]
fn replies_that_break_the_protocol() {
    let closed = "{at} closed the connection; the server stopped, or ended it (its error log may say why)";
    let broke = |fault: &str| format!("the server broke MySQL's protocol: {fault}");
    check_query(b"", closed);
    check_query(b"\x07\0\0\x01\0\0", closed);
    check_query(&packet(1, b"\0\x05"), &broke("an OK packet is cut short"));
    check_query(
        &packet(2, &packets::ok(0)),
        &broke("packet number 2 came where 1 was due"),
    );
    check_query(&packet(1, b""), &broke("the first packet of a reply is cut short"));
    check_query(
        b"\xff\xff\xff\x01",
        &broke("a control packet's size is 16777215, the limit is 131072"),
    );
    check_query(
        &packet(1, b"\xfd\xff\xff\xff"),
        &broke("the number of columns is 16777215, the limit is 4096"),
    );
    check_query(
        &packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
        &broke("the number of columns is 18446744073709551615, the limit is 4096"),
    );
    let rows = "the number of changed rows is";
    check_query(
        &packet(1, &packets::ok(u64::MAX)),
        &broke(&format!("{rows} 18446744073709551615, the limit is 1099511627776")),
    );
    let more = |number| packet(number, b"\0\xfe\0\0\0\0\0\x01\0\0\0\x0a\0\0\0"); // 2^40 rows, and another result
    check_query(
        &[more(1), more(2)].concat(),
        &broke(&format!("{rows} 2199023255552, the limit is 1099511627776")),
    );
    let column = packet(2, &packets::column("c"));
    let head = [packet(1, b"\x01"), column].concat();
    check_query(
        &[&head[..], &packet(3, b"\x01x")].concat(),
        &broke("an EOF packet cannot have 0x01 here"),
    );
    let head = [&head[..], &packet(3, &packets::rows_end(false))].concat();
    check_query(
        &[&head[..], &packet(3, b"\x01x")].concat(),
        &broke("packet number 3 came where 4 was due"),
    );
    check_query(&[&head[..], b"\xff\xff\xff\x04x"].concat(), closed);
    check_query(&[&head[..], &packet(4, b"")].concat(), &broke("a row is empty"));
    check_query(
        &[&head[..], &packet(4, b"\xfe")].concat(),
        &broke("an EOF packet is cut short"),
    );
    check_query(
        &[packet(1, b"\x02"), packet(2, b"\xfe\0\0\0\0")].concat(),
        &broke("column definitions end too early"),
    );
}

#[test]
fn a_server_may_end_a_connection_out_of_turn() {
    let text = "The client was disconnected by the server because of inactivity.";
    let sim = reply_with(vec![Step::Send(packet(0, &packets::error(4031, "HY000", text)))]);
    let mut connection = open(&sim).unwrap();
    let error = connection.query("SELECT 1").unwrap_err();
    assert_eq!(error.server_code(), Some(4031));
    assert!(error.is_connection_lost());
}

#[test]
fn a_file_nobody_offered_stays_here() {
    let steps = vec![
        Step::Send(packet(1, b"\xfb/etc/passwd")),
        Step::AwaitPacket,
        Step::Send(packet(3, &packets::ok(0))),
    ];
    let sim = reply_with(steps);
    let mut connection = open(&sim).unwrap();
    let error = connection.query("SELECT 1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server asked for the local file '/etc/passwd' without being told to; do not trust this server"
    );
    assert!(matches!(connection.ping().unwrap_err().cause(), Cause::Closed { .. }));
}

/// All numbers of packets once, so that repeating it is a stream in order.
fn endless(first: u8, payload: &[u8]) -> Step {
    Step::Repeat(
        (0..=255)
            .flat_map(|n: u8| packet(first.wrapping_add(n), payload))
            .collect(),
    )
}

#[test]
fn endless_results_end_when_interrupted_and_take_no_memory() {
    let sim = reply_with(vec![
        Step::Send(packet(1, b"\xfc\x00\x10")),
        endless(2, &packets::column("c")),
    ]);
    let mut connection = open(&sim).unwrap();
    let interrupter = connection.interrupter();
    let before = memory_kib();
    let error = thread::scope(|scope| {
        let endless = scope.spawn(|| connection.query("SELECT 1").unwrap_err());
        thread::sleep(IMPATIENT);
        interrupter.interrupt();
        endless.join().unwrap()
    });
    assert!(error.is_connection_lost(), "{error}");
    assert!(memory_kib() < before + 20_000, "from {before} to {} KiB", memory_kib());
}

#[test]
fn endless_control_rows_are_cut() {
    let end = || packets::rows_end(false);
    let rows = (4..=255).flat_map(|n: u8| packet(n, b"\x01x")).collect();
    let head = [packet(1, b"\x01"), packet(2, &packets::column("c")), packet(3, &end())].concat();
    let steps = [head, rows, packet(0, &end())].concat();
    let sim = reply_with(vec![Step::Send(steps)]);
    let error = open(&sim).unwrap().query_rows("SELECT 1", 251).unwrap_err();
    assert_eq!(error.to_string(), "the query gave more than 251 rows");
    assert_eq!(open(&sim).unwrap().query_rows("SELECT 1", 252).unwrap().len(), 252);
}

#[test]
fn endless_results_that_are_kept_are_cut() {
    let head = [
        packet(1, b"\x01"),
        packet(2, &packets::column("c")),
        packet(3, &packets::rows_end(false)),
    ]
    .concat();
    let rows: Vec<u8> = (4..=255).flat_map(|n: u8| packet(n, b"\x01x")).collect();
    let sim = reply_with(vec![Step::Send(
        [head, rows, packet(0, &packets::rows_end(false))].concat(),
    )]);
    let mut enough = Results::new(10_000);
    open(&sim)
        .unwrap()
        .run("SELECT 1", &[], Sink::Whole(&mut enough))
        .unwrap();
    assert_eq!(enough.sets()[0].rows(), 252);
    let mut connection = open(&sim).unwrap();
    let error = connection
        .run("SELECT 1", &[], Sink::Whole(&mut Results::new(1_000)))
        .unwrap_err();
    assert_eq!(error.to_string(), "the query gave more than 1000 bytes of rows");
}

#[test]
fn results_without_end_take_no_memory() {
    let more = |number| packet(number, b"\0\0\0\x08\0\0\0"); // OK, and another result
    let results = (0..400_000u32).flat_map(|number| more((number + 1) as u8));
    let last = packet((400_001u32 % 256) as u8, &packets::ok(0));
    let sim = reply_with(vec![Step::Send(results.chain(last).collect())]);
    let mut kept = Results::new(1 << 20);
    let before = memory_kib();
    let error = open(&sim)
        .unwrap()
        .run("SELECT 1", &[], Sink::Whole(&mut kept))
        .unwrap_err();
    assert_eq!(error.to_string(), "the query gave more than 1048576 bytes of rows");
    assert!(memory_kib() < before + 20_000, "from {before} to {} KiB", memory_kib());
}

fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
