//! What comments of tables say: whether Plimsoll made them, and how far it came.

/// How far the making of a table came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Rows, indexes or statistics may be missing.
    Loading,
    /// All is there.
    Complete,
}

impl State {
    /// The word in a comment.
    pub fn word(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Complete => "complete",
        }
    }

    /// The state of this word; `None` when it is none.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Loading, Self::Complete]
            .into_iter()
            .find(|state| state.word() == word)
    }
}

/// What the comment of a table says that Plimsoll made.
pub trait Mark: PartialEq {
    /// How far it came.
    fn state(&self) -> State;
}

/// What is there under the name of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<M> {
    /// Nothing.
    Nothing,
    /// A table that carries our mark.
    Ours(M),
    /// Something that we did not make.
    Foreign,
}

impl<M: Mark> Found<M> {
    /// What is there under a name, by the comment.
    pub fn of(mark: Option<M>) -> Self {
        mark.map_or(Self::Foreign, Self::Ours)
    }

    /// Ours, and not complete.
    pub fn is_unfinished(&self) -> bool {
        matches!(self, Self::Ours(mark) if mark.state() == State::Loading)
    }

    /// Why the table of this name cannot be used before it is made, with the cure.
    pub fn unmade(&self, name: &str) -> Option<String> {
        match self {
            Self::Nothing => Some(format!("{name} does not exist: make it with `plimsoll prepare`")),
            _ if self.is_unfinished() => Some(unfinished(name)),
            Self::Ours(_) | Self::Foreign => None,
        }
    }
}

/// A table that was left unfinished, with the cure.
pub fn unfinished(name: &str) -> String {
    format!("{name} is unfinished: complete it with `plimsoll prepare`")
}
