//! The options of the MySQL driver, read: which servers, how to log in, which errors are lived with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_core::plan::{ClientCertificate, Endpoint, Secret, ServerKey, Target, Tls};
use plimsoll_wire::Connector;

use crate::options::{Options, Value};

/// Where MySQL and MariaDB listen on this machine when nobody tells them otherwise.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/tmp/mysql.sock",
    "/var/lib/mysql/mysql.sock",
];

/// The files that `--mysql-ssl=on` of sysbench 1.0 reads from the current folder.
const SSL_FILES: [&str; 3] = ["cacert.pem", "client-cert.pem", "client-key.pem"];

/// All servers that the options name; each connection takes the next.
#[derive(Debug)]
pub struct Targets {
    all: Vec<Arc<Connector>>,
    next: AtomicUsize,
}

impl Targets {
    /// The server for one more connection: the next port of a host, then the next host; sockets in turn.
    pub fn next(&self) -> Arc<Connector> {
        let place = self.next.fetch_add(1, Ordering::Relaxed) % self.all.len();
        Arc::clone(&self.all[place])
    }
}

/// Errors that a run lives with: `--mysql-ignore-errors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// Whatever it is.
    All,
    /// These.
    Codes(Vec<u16>),
}

impl Ignored {
    /// Reads the option.
    ///
    /// # Errors
    /// When something in the list is no error number.
    pub fn new(options: &Options) -> Result<Self, String> {
        let items = list(options, "mysql-ignore-errors");
        if items.iter().any(|item| item == "all") {
            return Ok(Self::All);
        }
        let code = |item: &String| {
            item.parse()
                .map_err(|_| format!("Invalid value for --mysql-ignore-errors: {item}"))
        };
        items.iter().map(code).collect::<Result<_, _>>().map(Self::Codes)
    }

    /// Whether this error is lived with.
    pub fn contains(&self, code: u16) -> bool {
        match self {
            Self::All => true,
            Self::Codes(codes) => codes.contains(&code),
        }
    }
}

/// What is asked for and cannot be done; said once, the run goes on without.
pub fn doubts(options: &Options) -> Vec<String> {
    let mut doubts = Vec::new();
    if matches!(options.get("mysql-compression"), Some(Value::Bool(true))) {
        doubts.push("--mysql-compression is not supported, connections are not compressed".to_owned());
    }
    if !text(options, "mysql-ssl-cipher").is_empty() {
        doubts.push("--mysql-ssl-cipher is not supported, server and client choose the cipher".to_owned());
    }
    doubts
}

/// Reads which servers the options name, and how to log in.
///
/// # Errors
/// When a port is no number, or `--mysql-ssl` is no mode.
pub fn targets(options: &Options) -> Result<Targets, String> {
    let tls = tls(options)?;
    let target = |endpoint| Target {
        endpoint,
        user: user(text(options, "mysql-user")),
        password: Secret::new(password(text(options, "mysql-password"))),
        database: text(options, "mysql-db").to_owned(),
        tls: tls.clone(),
        server_key: ServerKey::Asked,
    };
    let connector = |endpoint| Arc::new(Connector::new(target(endpoint)));
    Ok(Targets {
        all: endpoints(options)?.into_iter().map(connector).collect(),
        next: AtomicUsize::new(0),
    })
}

/// Without a name the client library takes that of whoever runs it.
fn user(given: &str) -> String {
    if !given.is_empty() {
        return given.to_owned();
    }
    if rustix::process::geteuid().is_root() {
        return "root".to_owned();
    }
    let named = ["USER", "LOGNAME", "LOGIN"]
        .iter()
        .filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

/// Without a password the client library takes the environment's.
fn password(given: &str) -> String {
    if given.is_empty() {
        return std::env::var("MYSQL_PWD").unwrap_or_default();
    }
    given.to_owned()
}

fn endpoints(options: &Options) -> Result<Vec<Endpoint>, String> {
    let socket = |path: &str| Endpoint::Socket { path: path.into() };
    let sockets = list(options, "mysql-socket");
    if !sockets.is_empty() {
        return Ok(sockets.iter().map(|path| socket(path)).collect());
    }
    let hosts = or_default(list(options, "mysql-host"), "localhost");
    let ports = or_default(list(options, "mysql-port"), "3306");
    let mut endpoints = Vec::new();
    for host in &hosts {
        for port in &ports {
            let number = port
                .parse()
                .map_err(|_| format!("Invalid value for --mysql-port: {port}"))?;
            // Where the client library finds `localhost` without a port, it takes the socket.
            let here = (host == "localhost" && ports == ["3306"])
                .then(default_socket)
                .flatten();
            endpoints.push(here.map_or_else(|| tcp(host, number), socket));
        }
    }
    Ok(endpoints)
}

fn tcp(host: &str, port: u16) -> Endpoint {
    Endpoint::Tcp {
        host: host.to_owned(),
        port,
    }
}

fn default_socket() -> Option<&'static str> {
    SOCKETS.into_iter().find(|path| Path::new(path).exists())
}

fn or_default(given: Vec<String>, default: &str) -> Vec<String> {
    if given.is_empty() {
        vec![default.to_owned()]
    } else {
        given
    }
}

/// The switch of 1.0, or the mode of 1.1.
fn tls(options: &Options) -> Result<Tls, String> {
    let mode = match options.get("mysql-ssl") {
        Some(Value::Bool(is_on)) => if *is_on { "on" } else { "off" }.to_owned(),
        Some(Value::String(mode)) => mode.to_ascii_lowercase().replace('-', "_"),
        _ => String::new(),
    };
    let is_old = matches!(mode.as_str(), "on" | "true" | "1");
    let file = |option: &str, old: &str| match text(options, option) {
        "" => (is_old && Path::new(old).exists()).then(|| PathBuf::from(old)),
        given => Some(PathBuf::from(given)),
    };
    let ca = file("mysql-ssl-ca", SSL_FILES[0]);
    let (cert, key) = (
        file("mysql-ssl-cert", SSL_FILES[1]),
        file("mysql-ssl-key", SSL_FILES[2]),
    );
    let client = cert.zip(key).map(|(cert, key)| ClientCertificate { cert, key });
    match (mode.as_str(), ca) {
        ("" | "disabled" | "off" | "false" | "0", _) => Ok(Tls::Disabled),
        ("preferred", _) => Ok(Tls::Preferred),
        ("required", _) | ("on" | "true" | "1", None) => Ok(Tls::Required { client }),
        ("on" | "true" | "1" | "verify_ca", Some(ca)) => Ok(Tls::VerifyCa { ca, client }),
        ("verify_identity", Some(ca)) => Ok(Tls::VerifyIdentity { ca, client }),
        ("verify_ca" | "verify_identity", None) => Err(format!("--mysql-ssl={mode} needs --mysql-ssl-ca")),
        _ => Err(format!("Invalid value for --mysql-ssl: {mode}")),
    }
}

fn text<'a>(options: &'a Options, name: &str) -> &'a str {
    match options.get(name) {
        Some(Value::String(text) | Value::File(text)) => text,
        _ => "",
    }
}

/// Spaces around an item are no part of a host, a port, a path or a number.
fn list(options: &Options, name: &str) -> Vec<String> {
    match options.get(name) {
        Some(Value::List(items)) => items.iter().map(|item| item.trim().to_owned()).collect(),
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(given: &[(&str, Value)]) -> Options {
        let mut options = Options::default();
        for (name, value) in given {
            options.set(name, value.clone());
        }
        options
    }

    fn words(words: &[&str]) -> Value {
        Value::List(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn shown(given: &[(&str, Value)], count: usize) -> Vec<String> {
        let targets = targets(&options(given)).unwrap();
        (0..count)
            .map(|_| targets.next().target().endpoint.to_string())
            .collect()
    }

    #[test]
    fn connections_take_the_next_port_then_the_next_host() {
        let given = [("mysql-host", words(&["a", "b"])), ("mysql-port", words(&["1", "2"]))];
        assert_eq!(shown(&given, 5), ["a:1", "a:2", "b:1", "b:2", "a:1"]);
    }

    #[test]
    fn sockets_come_before_hosts() {
        let given = [("mysql_host", words(&["a"])), ("mysql_socket", words(&["/x", "/y"]))];
        assert_eq!(shown(&given, 3), ["/x", "/y", "/x"]);
        assert_eq!(
            shown(
                &[("mysql_host", words(&["localhost"])), ("mysql_port", words(&["3307"]))],
                1
            ),
            ["localhost:3307"]
        );
    }

    #[test]
    fn without_a_name_it_is_whoever_runs_it() {
        assert_eq!(user("me"), "me");
        let is_root = rustix::process::geteuid().is_root();
        assert_eq!(
            user("") == "root",
            is_root || std::env::var("USER").is_ok_and(|name| name == "root")
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |name: &str, value: Value| targets(&options(&[(name, value)])).unwrap_err();
        assert_eq!(
            refused("mysql-port", words(&["70000"])),
            "Invalid value for --mysql-port: 70000"
        );
        let text = |text: &str| Value::String(text.to_owned());
        assert_eq!(
            refused("mysql-ssl", text("perhaps")),
            "Invalid value for --mysql-ssl: perhaps"
        );
        assert_eq!(
            refused("mysql-ssl", text("VERIFY_CA")),
            "--mysql-ssl=verify_ca needs --mysql-ssl-ca"
        );
        assert!(Ignored::new(&options(&[("mysql-ignore-errors", words(&["x"]))])).is_err());
    }

    #[test]
    fn modes_of_encryption_are_those_of_both_versions() {
        let mode = |value: Value| tls(&options(&[("mysql-ssl", value)])).unwrap();
        let text = |text: &str| Value::String(text.to_owned());
        assert_eq!(
            (mode(Value::Bool(false)), mode(text("DISABLED"))),
            (Tls::Disabled, Tls::Disabled)
        );
        assert_eq!(
            (mode(Value::Bool(true)), mode(text("PREFERRED"))),
            (Tls::Required { client: None }, Tls::Preferred)
        );
        let given = [("mysql-ssl", text("VERIFY_IDENTITY")), ("mysql-ssl-ca", text("ca.pem"))];
        assert_eq!(tls(&options(&given)).unwrap().name(), "verify-identity");
    }

    #[test]
    fn errors_are_lived_with_one_by_one_or_all() {
        let ignored = Ignored::new(&options(&[("mysql-ignore-errors", words(&["1213", "2013"]))])).unwrap();
        assert!(ignored.contains(2013) && !ignored.contains(1062));
        let all = Ignored::new(&options(&[("mysql-ignore-errors", words(&["all"]))])).unwrap();
        assert!(all.contains(1062));
    }
}
