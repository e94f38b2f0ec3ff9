//! Why a trial cannot go on. Failed statements are not faults: they are counted.

use plimsoll_core::message::{Failed, FailureClass};

use crate::server::ServerIndex;

/// Something that ends the trial with one message: misuse, a server that is not there, a defect of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WorkerFault {
    /// Who must act.
    pub class: FailureClass,
    /// MySQL's error number, where a server answered with one.
    pub code: Option<u16>,
    /// The five characters of SQLSTATE, where a server answered with them.
    pub sqlstate: Option<String>,
    /// Of the server that it is about, where it is about one.
    pub server: Option<ServerIndex>,
    /// What is wrong, with the thing, the value and the cure.
    pub message: String,
}

impl WorkerFault {
    /// A fault without a server's answer behind it.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            code: None,
            sqlstate: None,
            server: None,
            message: message.into(),
        }
    }

    /// Misuse: what was asked for cannot be done.
    pub fn spec(message: impl Into<String>) -> Self {
        Self::new(FailureClass::Spec, message)
    }

    /// A panic as a fault of class `bug`. `place` says where it happened.
    pub fn from_panic(place: &str, payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        let message = format!("{place} panicked: {text}; this is a defect of the engine, please report it");
        Self::new(FailureClass::Bug, message)
    }
}

impl From<WorkerFault> for Failed {
    fn from(fault: WorkerFault) -> Self {
        Self {
            class: fault.class,
            code: fault.code,
            sqlstate: fault.sqlstate,
            message: fault.message,
        }
    }
}
