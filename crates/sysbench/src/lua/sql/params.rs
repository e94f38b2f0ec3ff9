//! A parameter: where a script puts the value that the next execution takes.

use plimsoll_wire::Value;

use super::ParamFace;
use crate::lua::fixed::Fixed;
use crate::lua::memory::Reserved;
use crate::lua::slab::Faced;

/// The numbers of `sysbench.sql.type` that can be bound.
const TINYINT: i32 = 1;
const BIGINT: i32 = 4;
const FLOAT: i32 = 5;
const DOUBLE: i32 = 6;
const CHAR: i32 = 11;
const VARCHAR: i32 = 12;

/// Room for text at most: the longest statement of any server.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// A parameter.
#[derive(Default)]
pub struct Param {
    face: Fixed<ParamFace>,
    text: Vec<u8>,
    memory: Reserved,
    /// As it was made, whatever the face says by now.
    kind: i32,
}

impl Faced for Param {
    type Face = ParamFace;

    fn face(&self) -> *mut ParamFace {
        self.face.pointer()
    }
}

impl Param {
    /// Makes it a parameter of this type, with so much room for text. False for another type, or without memory.
    pub fn begin(&mut self, kind: i32, max_length: u64) -> bool {
        let room = match kind {
            TINYINT..=DOUBLE => 0,
            CHAR | VARCHAR if max_length <= TEXT_BYTES_MAX => max_length as usize,
            _ => return false,
        };
        self.end();
        let Some(memory) = Reserved::new(room) else {
            return false;
        };
        (self.text, self.memory) = (vec![0; room], memory);
        self.kind = kind;
        self.face.set(ParamFace {
            kind,
            max_length: room as u64,
            buffer: self.text.as_mut_ptr().cast(),
            ..ParamFace::default()
        });
        true
    }

    /// Gives its memory back.
    pub fn end(&mut self) {
        (self.text, self.memory) = (Vec::new(), Reserved::default());
        self.face.set(ParamFace::default());
    }

    /// The value now.
    #[inline]
    pub fn value(&self) -> Value<'_> {
        let face = self.face.get();
        match self.kind {
            _ if face.is_null => Value::Null,
            TINYINT..=BIGINT => Value::Int(face.int_value),
            FLOAT | DOUBLE => Value::Double(face.double_value),
            _ => Value::Bytes(&self.text[..self.text.len().min(face.length as usize)]),
        }
    }

    /// The room for text.
    pub fn text_mut(&mut self) -> &mut [u8] {
        &mut self.text
    }

    /// Makes so many bytes of the room its value.
    pub fn set_length(&mut self, length: usize) {
        self.face.set(ParamFace {
            is_null: false,
            length: length as u64,
            ..self.face.get()
        });
    }
}
