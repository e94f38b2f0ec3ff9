//! Which server is trusted, by the mode that the target asks for, and what the client shows of itself.

use std::fmt::Write as _;
use std::path::Path;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use plimsoll_core::plan::{ClientCertificate, Tls};

use crate::codec::printable;
use crate::error::ConnectFailure;

/// Decides about a server's certificate.
///
/// In the modes `preferred` and `required` anybody is trusted, as MySQL's clients define these modes: they keep those out
/// who only listen, and nobody who answers in the server's place. Nothing is checked then, not even that the server has
/// the key of its certificate, since whoever answers in its place could show a certificate of their own.
#[derive(Debug)]
pub struct Trust {
    algorithms: WebPkiSupportedAlgorithms,
    /// `None` trusts anybody.
    authorities: Option<Authorities>,
}

#[derive(Debug)]
struct Authorities {
    certificates: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
    is_name_checked: bool,
}

impl Trust {
    /// Reads the authorities that a mode needs.
    pub fn new(tls: &Tls, algorithms: WebPkiSupportedAlgorithms) -> Result<Self, ConnectFailure> {
        let authorities = match tls {
            Tls::VerifyCa { ca, .. } => Some(Authorities::read(ca, false)?),
            Tls::VerifyIdentity { ca, .. } => Some(Authorities::read(ca, true)?),
            Tls::Disabled | Tls::Preferred | Tls::Required { .. } => None,
        };
        Ok(Self {
            algorithms,
            authorities,
        })
    }
}

impl Authorities {
    fn read(ca: &Path, is_name_checked: bool) -> Result<Self, ConnectFailure> {
        let certificates = read_certificates(ca)?;
        let mut roots = RootCertStore::empty();
        // A system's own file holds hundreds; one that cannot be read as an authority's does not spoil the others.
        let (usable, _) = roots.add_parsable_certificates(certificates.iter().cloned());
        if usable == 0 {
            return Err(file_fault(ca, "holds no certificate of an authority"));
        }
        Ok(Self {
            certificates,
            roots,
            is_name_checked,
        })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        // A server's own certificate in the file of authorities, as self-signed ones are used, is trusted as it stands.
        if !authorities.certificates.contains(end_entity) {
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                &authorities.roots,
                intermediates,
                now,
                self.algorithms.all,
            )?;
        }
        if authorities.is_name_checked {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authorities.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authorities.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The client's certificates and their key, if the target names some.
pub fn client_identity(
    tls: &Tls,
) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>, ConnectFailure> {
    let (Tls::Required { client } | Tls::VerifyCa { client, .. } | Tls::VerifyIdentity { client, .. }) = tls else {
        return Ok(None);
    };
    let Some(ClientCertificate { cert, key }) = client else {
        return Ok(None);
    };
    let chain = read_certificates(cert)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        let none = "holds no private key in PEM format; an encrypted one must be decrypted first (openssl pkey)";
        file_fault(key, &pem_reason(error, none))
    })?;
    Ok(Some((chain, key)))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ConnectFailure> {
    let none = "holds no certificate in PEM format";
    let fault = |error| file_fault(path, &pem_reason(error, none));
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(fault)?
        .collect::<Result<_, _>>()
        .map_err(fault)?;
    if certificates.is_empty() {
        return Err(file_fault(path, none));
    }
    Ok(certificates)
}

fn pem_reason(error: pem::Error, none: &str) -> String {
    match error {
        pem::Error::Io(error) => format!("cannot be read: {error}"),
        _ => none.to_owned(),
    }
}

fn file_fault(path: &Path, reason: &str) -> ConnectFailure {
    ConnectFailure::TlsFile(format!("{} {reason}", path.display()))
}

/// Why no encrypted connection came about, and the cure where one is known.
pub fn explain(error: &Error) -> String {
    let mut text = printable(error.to_string().as_bytes());
    let cure = match error {
        Error::InvalidCertificate(reason) => certificate_cure(reason),
        Error::InvalidMessage(_) => "does the server speak TLS 1.2 or 1.3 there?",
        Error::PeerIncompatible(_) => "the server must offer TLS 1.2 or 1.3 with ECDHE key exchange",
        Error::AlertReceived(_) => {
            "the server refused: does it know TLS 1.2 or 1.3, and does it want a client certificate (cert and key)?"
        }
        _ => return text,
    };
    let _ = write!(text, "; {cure}"); // text takes everything
    text
}

fn certificate_cure(reason: &CertificateError) -> &'static str {
    match reason {
        CertificateError::UnknownIssuer => "no authority in the file of ca signed the server's certificate",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "use a name that the certificate has as subjectAltName, or tls=verify-ca, which takes any name"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "renew the server's certificate",
        _ => {
            "make a new certificate for the server: of version 3, not that of an authority, signed by SHA-256 or better"
        }
    }
}
