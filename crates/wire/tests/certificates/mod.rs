//! Certificates for tests: authorities, and what they sign.

use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// A folder that is gone after the test.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one; `name` tells it from those of other tests.
    pub fn new(name: &str) -> Self {
        let path = Path::new("/var/tmp").join(format!("plimsoll-wire-{}-tls-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files of a certificate and its key.
#[derive(Debug)]
pub struct Files {
    /// The certificate.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Somebody who signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Writes its certificate.
    pub fn write(&self, folder: &Folder, name: &str) -> PathBuf {
        folder.write(&format!("{name}.pem"), &self.0.pem())
    }

    /// Writes a new certificate for these names, and its key.
    pub fn sign(&self, folder: &Folder, name: &str, names: &[&str]) -> Files {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::new(names).unwrap());
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Files {
            cert: folder.write(&format!("{name}-cert.pem"), &certificate.pem()),
            key: folder.write(&format!("{name}-key.pem"), &key.serialize_pem()),
        }
    }
}
