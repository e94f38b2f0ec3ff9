//! Encrypted connections to real servers, in every mode; and MariaDB's `client_ed25519`.

mod certificates;
mod support;

use std::path::{Path, PathBuf};

use certificates::{Authority, Files, Folder};
use plimsoll_core::plan::{ClientCertificate, Endpoint, ServerKey, Target, Tls};
use plimsoll_wire::{ConnectOptions, Connection, Value, WireError};
use support::Server;

fn open(target: &Target, tls: &Tls) -> Result<Connection, WireError> {
    let target = Target {
        tls: tls.clone(),
        server_key: ServerKey::Asked, // who is trusted without encryption is looked at elsewhere
        ..target.clone()
    };
    Connection::open(&target, &ConnectOptions::default())
}

fn required(client: Option<ClientCertificate>) -> Tls {
    Tls::Required { client }
}

fn verify_ca(ca: &Path) -> Tls {
    let (ca, client) = (ca.to_owned(), None);
    Tls::VerifyCa { ca, client }
}

fn verify_identity(ca: &Path) -> Tls {
    let (ca, client) = (ca.to_owned(), None);
    Tls::VerifyIdentity { ca, client }
}

fn client(files: &Files) -> ClientCertificate {
    ClientCertificate {
        cert: files.cert.clone(),
        key: files.key.clone(),
    }
}

fn named(target: &Target, name: &str) -> Target {
    let Endpoint::Tcp { port, .. } = target.endpoint else {
        panic!("a name belongs to a port")
    };
    let (host, endpoint) = (name.to_owned(), target.clone());
    Target {
        endpoint: Endpoint::Tcp { host, port },
        ..endpoint
    }
}

/// Opens a connection and holds what we say of its encryption against what the server says; empty for none.
fn check_encryption(target: &Target, tls: &Tls, version: &str) {
    let mut connection = open(target, tls).unwrap_or_else(|error| panic!("{tls:?}: {error}"));
    let status = |connection: &mut Connection, name: &str| {
        let rows = connection.query_rows(&format!("SHOW SESSION STATUS LIKE '{name}'"), 1);
        rows.unwrap()[0][1].clone().unwrap_or_default()
    };
    let said = (
        status(&mut connection, "Ssl_version"),
        status(&mut connection, "Ssl_cipher"),
    );
    assert_eq!(said.0, version, "{tls:?}");
    match connection.encryption() {
        Some(ours) => {
            assert_eq!(ours.version, version);
            // In TLS 1.2 OpenSSL has names of its own.
            assert!(version == "TLSv1.2" || ours.cipher == said.1, "{ours} and {}", said.1);
        }
        None => assert_eq!(said, (String::new(), String::new()), "{tls:?}"),
    }
    connection.close();
}

fn check_refused(target: &Target, tls: &Tls, expect: &[&str]) {
    let error = open(target, tls).unwrap_err().to_string();
    assert!(expect.iter().all(|part| error.contains(part)), "{tls:?}: {error}");
    assert!(error.starts_with("cannot connect to "), "{error}");
}

/// More than a record, a packet and a buffer hold, both ways.
fn check_large(target: &Target) {
    let mut connection = open(target, &required(None)).unwrap();
    let rows = connection.query_rows("SELECT REPEAT('x', 20000000), 1", 1).unwrap();
    assert_eq!(rows[0][0].as_ref().unwrap().len(), 20_000_000);
    let length = connection.prepare("SELECT 1 FROM DUAL WHERE LENGTH(?) = ?").unwrap();
    let text = "z".repeat(17_000_000);
    for _ in 0..2 {
        let values = [Value::Text(&text), Value::Int(17_000_000)];
        assert_eq!(connection.execute(&length, &values).unwrap().rows_returned, 1);
    }
    connection.ping().unwrap();
}

fn check_database(target: &Target) {
    let database = "information_schema".to_owned();
    let target = Target {
        database: database.clone(),
        ..target.clone()
    };
    for tls in [Tls::Disabled, required(None)] {
        let rows = open(&target, &tls).unwrap().query_rows("SELECT DATABASE()", 1);
        assert_eq!(rows.unwrap()[0][0].as_ref(), Some(&database), "{tls:?}");
    }
}

fn check_modes(server: &Server, tcp: &Target, ca: &Path, folder: &Folder) {
    check_encryption(tcp, &Tls::Disabled, "");
    check_encryption(tcp, &Tls::Preferred, "TLSv1.3");
    check_encryption(tcp, &required(None), "TLSv1.3");
    check_encryption(tcp, &verify_ca(ca), "TLSv1.3");
    check_large(tcp);
    check_database(tcp);
    let socket = server.by_socket("root", "");
    check_encryption(&socket, &Tls::Preferred, "");
    check_encryption(&socket, &required(None), "TLSv1.3");
    let other = Authority::new("another authority").write(folder, "other-ca");
    let unknown = "no authority in the file of ca signed the server's certificate";
    check_refused(tcp, &verify_ca(&other), &[unknown]);
    check_refused(tcp, &verify_identity(&other), &[unknown]);
    check_refused(
        tcp,
        &verify_ca(Path::new("/no/such/file")),
        &["/no/such/file cannot be read: "],
    );
    let empty = folder.write("empty.pem", "nothing in here");
    check_refused(
        tcp,
        &verify_ca(&empty),
        &["empty.pem holds no certificate in PEM format"],
    );
    let keyless = Some(ClientCertificate {
        cert: other.clone(),
        key: empty,
    });
    check_refused(tcp, &required(keyless), &["holds no private key in PEM format"]);
}

fn check_client_certificate(server: &Server, good: &Files, foreign: &Files) {
    let mut root = server.root();
    root.query("CREATE USER known IDENTIFIED BY 'pw' REQUIRE X509").unwrap();
    let target = server.by_tcp("known", "pw");
    for without in [Tls::Disabled, required(None)] {
        assert_eq!(open(&target, &without).unwrap_err().server_code(), Some(1045));
    }
    check_encryption(&target, &required(Some(client(good))), "TLSv1.3");
    check_refused(&target, &required(Some(client(foreign))), &["the server refused"]);
}

fn server_options(files: &Files, ca: &Path) -> Vec<String> {
    let option = |name: &str, path: &Path| format!("--ssl-{name}={}", path.display());
    vec![option("ca", ca), option("cert", &files.cert), option("key", &files.key)]
}

#[test]
fn mariadb() {
    let folder = Folder::new("mariadb");
    let authority = Authority::new("our authority");
    let ca = authority.write(&folder, "ca");
    let files = authority.sign(&folder, "server", &["localhost"]);
    let Some(server) = Server::mariadb(&server_options(&files, &ca)) else {
        return;
    };
    let mut root = server.root();
    root.query("CREATE USER somebody IDENTIFIED BY 'secret'").unwrap();
    let tcp = server.by_tcp("somebody", "secret");
    check_modes(&server, &tcp, &ca, &folder);
    check_encryption(&named(&tcp, "localhost"), &verify_identity(&ca), "TLSv1.3");
    let wrong_name = [
        "127.0.0.1",
        "is only valid for DnsName(\"localhost\")",
        "or tls=verify-ca",
    ];
    check_refused(&tcp, &verify_identity(&ca), &wrong_name);
    // The server's own certificate is as good as an authority, for its own name.
    check_encryption(&tcp, &verify_ca(&files.cert), "TLSv1.3");
    check_refused(&tcp, &verify_identity(&files.cert), &wrong_name[..2]);
    let good = authority.sign(&folder, "client", &["somebody"]);
    let foreign = Authority::new("unknown").sign(&folder, "foreign", &["somebody"]);
    check_client_certificate(&server, &good, &foreign);
}

#[test]
fn a_server_that_speaks_only_tls_1_2() {
    let folder = Folder::new("old");
    let authority = Authority::new("our authority");
    let ca = authority.write(&folder, "ca");
    let mut options = server_options(&authority.sign(&folder, "server", &["localhost"]), &ca);
    options.push("--tls-version=TLSv1.2".to_owned());
    let Some(server) = Server::mariadb(&options) else {
        return;
    };
    server
        .root()
        .query("CREATE USER somebody IDENTIFIED BY 'secret'")
        .unwrap();
    let tcp = server.by_tcp("somebody", "secret");
    for tls in [Tls::Preferred, required(None), verify_ca(&ca)] {
        check_encryption(&tcp, &tls, "TLSv1.2");
    }
    check_encryption(&named(&tcp, "localhost"), &verify_identity(&ca), "TLSv1.2");
    check_large(&tcp);
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_demanded() {
    let Some(server) = Server::mariadb(&["--skip-ssl".to_owned()]) else {
        return;
    };
    server
        .root()
        .query("CREATE USER somebody IDENTIFIED BY 'secret'")
        .unwrap();
    let tcp = server.by_tcp("somebody", "secret");
    check_encryption(&tcp, &Tls::Preferred, "");
    let error = open(&tcp, &required(None)).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "the server offers no encrypted connections (TLS), and tls=required asks for one; \
             switch TLS on at the server, or choose tls=disabled"
        ),
        "{error}"
    );
}

/// MySQL makes its own certificates, without names, when it is initialised.
#[test]
fn mysql() {
    let Some(server) = Server::mysql() else { return };
    let folder = Folder::new("mysql");
    let mut root = server.root();
    root.query("CREATE USER somebody IDENTIFIED BY 'secret'").unwrap();
    let tcp = server.by_tcp("somebody", "secret");
    let data = PathBuf::from(root.query_rows("SELECT @@datadir", 1).unwrap()[0][0].as_ref().unwrap());
    let ca = data.join("ca.pem");
    check_modes(&server, &tcp, &ca, &folder);
    check_refused(
        &tcp,
        &verify_identity(&ca),
        &["not valid for any names", "or tls=verify-ca"],
    );
    let good = Files {
        cert: data.join("client-cert.pem"),
        key: data.join("client-key.pem"),
    };
    let foreign = Authority::new("unknown").sign(&folder, "foreign", &["somebody"]);
    check_client_certificate(&server, &good, &foreign);
    root.query("SET GLOBAL tls_version = 'TLSv1.2'").unwrap();
    root.query("ALTER INSTANCE RELOAD TLS").unwrap();
    check_encryption(&tcp, &verify_ca(&ca), "TLSv1.2");
}

#[test]
fn client_ed25519() {
    let Some(folder) = std::env::var_os("PLIMSOLL_TEST_MARIADB_PLUGINS").filter(|folder| !folder.is_empty()) else {
        support::skip("PLIMSOLL_TEST_MARIADB_PLUGINS is not set (tests/tools/get-mariadb-plugins DIR prints a value)");
        return;
    };
    let options = [
        format!("--plugin-dir={}", Path::new(&folder).display()),
        "--plugin-load-add=auth_ed25519".to_owned(),
    ];
    let Some(server) = Server::mariadb(&options) else {
        return;
    };
    let mut root = server.root();
    let long = "päss ".repeat(60);
    for (user, password) in [("brief", "x"), ("usual", "secret"), ("wordy", long.trim())] {
        root.query(&format!(
            "CREATE USER {user} IDENTIFIED VIA ed25519 USING PASSWORD('{password}')"
        ))
        .unwrap();
        for target in [server.by_tcp(user, password), server.by_socket(user, password)] {
            open(&target, &Tls::Preferred).unwrap().ping().unwrap();
        }
        for wrong in ["", "wrong"] {
            let error = open(&server.by_tcp(user, wrong), &Tls::Preferred).unwrap_err();
            assert_eq!(error.server_code(), Some(1045), "{error}");
        }
    }
}
