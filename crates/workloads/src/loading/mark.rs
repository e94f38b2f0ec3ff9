//! What comments of tables say: that Plimsoll made them, from what, and how far it came.

use plimsoll_wire::{Connection, WireError};

use crate::control::CATALOGUE_ROWS_MAX;

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
    fn word(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Complete => "complete",
        }
    }

    /// The state of this word; `None` when it is none.
    fn parse(word: &str) -> Option<Self> {
        [Self::Loading, Self::Complete]
            .into_iter()
            .find(|state| state.word() == word)
    }
}

/// What Plimsoll writes into the comment of a table that it made: `plimsoll oltp rows=10000 seed=1 state=complete`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Of which data set.
    kind: &'static str,
    /// What it was made from: words with single spaces between them, most of them a name, `=` and a value.
    made: String,
    /// How far it came.
    state: State,
    /// In what it differs from the usual shape: one word behind the state; empty when in nothing.
    shape: String,
}

impl Mark {
    /// The mark of a table of this kind of data set.
    pub fn new(kind: &'static str, made: String, state: State) -> Self {
        Self {
            kind,
            made,
            state,
            shape: String::new(),
        }
    }

    /// The same of another shape than the usual one.
    #[must_use]
    pub fn with_shape(self, shape: String) -> Self {
        Self { shape, ..self }
    }

    /// The comment.
    pub fn text(&self) -> String {
        let Self {
            kind,
            made,
            state,
            shape,
        } = self;
        let state = state.word();
        let shape = if shape.is_empty() {
            String::new()
        } else {
            format!(" shape={shape}")
        };
        format!("plimsoll {kind} {made} state={state}{shape}")
    }

    /// The mark in a comment; `None` when it is none of this kind of data set.
    pub fn parse(kind: &'static str, comment: &str) -> Option<Self> {
        let words = comment
            .strip_prefix("plimsoll ")?
            .strip_prefix(kind)?
            .strip_prefix(' ')?;
        let (made, behind) = words.split_once(" state=")?;
        let (state, shape) = match behind.split_once(' ') {
            None => (behind, ""),
            Some((state, rest)) => (state, rest.strip_prefix("shape=")?),
        };
        let mark = Self::new(kind, made.to_owned(), State::parse(state)?);
        Some(mark.with_shape(shape.to_owned()))
    }

    /// Whether all is there.
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Whether both are of one shape, however many rows they are of.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        self.shape == other.shape
    }

    /// The number of this name among what it was made from.
    pub fn number(&self, name: &str) -> Option<u64> {
        let mut words = self.made.split(' ');
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    }

    /// What it was made from, for readers.
    fn described(&self) -> String {
        if self.shape.is_empty() {
            self.made.clone()
        } else {
            format!("{} shape={}", self.made, self.shape)
        }
    }

    /// That `what` carries this mark where another one is wanted, with the cure.
    pub fn other_than(&self, wanted: &Self, what: &str) -> String {
        format!(
            "{what} made as ({}) and not as wanted ({}): run `plimsoll cleanup` first, or prepare with the options or the \
             workload file that were used then",
            self.described(),
            wanted.described()
        )
    }
}

/// What is there under the name of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A table that carries our mark.
    Ours(Mark),
    /// Something that we did not make.
    Foreign,
}

impl Found {
    /// Ours, and not complete.
    pub fn is_unfinished(&self) -> bool {
        matches!(self, Self::Ours(mark) if !mark.is_complete())
    }

    /// Why the table of this name cannot be used before it is made, with the cure.
    pub fn unmade(&self, name: &str) -> Option<String> {
        match self {
            Self::Nothing => Some(format!("{name} does not exist: make it with `plimsoll prepare`")),
            Self::Ours(mark) if !mark.is_complete() => Some(unfinished(name)),
            Self::Ours(_) | Self::Foreign => None,
        }
    }
}

/// A table that was left unfinished, with the cure.
pub fn unfinished(name: &str) -> String {
    format!("{name} is unfinished: complete it with `plimsoll prepare`")
}

/// What is there under each of `count` names, as the marks of this kind of data set tell. `condition` is what is true of
/// the tables' names in SQL, and may be true of others; `position` says which of them a name is.
///
/// # Errors
/// Whatever the server said.
pub fn find(
    connection: &mut Connection,
    kind: &'static str,
    condition: &str,
    count: usize,
    position: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<Found>, WireError> {
    let sql = format!(
        "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME {condition}"
    );
    let mut found = vec![Found::Nothing; count];
    for row in connection.query_rows(&sql, CATALOGUE_ROWS_MAX)? {
        let [Some(name), comment] = &row[..] else { continue };
        if let Some(position) = position(name) {
            let mark = comment.as_deref().and_then(|comment| Mark::parse(kind, comment));
            found[position] = mark.map_or(Found::Foreign, Found::Ours);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_of_others_are_no_marks() {
        for comment in [
            "",
            "mine",
            "plimsoll",
            "plimsoll oltp ",
            "plimsoll oltp rows=1 seed=2",
            "plimsoll oltp rows=1 seed=2 state=x",
            "plimsoll oltp rows=1 seed=2 state=complete and more",
            "plimsoll statements rows=1 seed=2 state=complete",
            "plimsoll oltpx rows=1 seed=2 state=complete",
        ] {
            assert_eq!(Mark::parse("oltp", comment), None, "{comment}");
        }
    }

    #[test]
    fn another_mark_is_told_with_both() {
        let found = Mark::parse("oltp", "plimsoll oltp rows=7 seed=2 state=complete shape=bulk").unwrap();
        assert_eq!(
            (found.number("rows"), found.number("row"), found.number("x")),
            (Some(7), None, None)
        );
        let wanted = Mark::new("oltp", "rows=7 seed=3".to_owned(), State::Complete);
        let told = found.other_than(&wanted, "sbtest1 was");
        assert!(
            told.starts_with("sbtest1 was made as (rows=7 seed=2 shape=bulk) and not as wanted (rows=7 seed=3): "),
            "{told}"
        );
    }

    #[test]
    fn what_is_not_complete_cannot_be_used() {
        let mark = |state| Found::Ours(Mark::new("oltp", "rows=1".to_owned(), state));
        assert_eq!(mark(State::Complete).unmade("t"), None);
        assert_eq!(Found::Foreign.unmade("t"), None);
        assert_eq!(mark(State::Loading).unmade("t"), Some(unfinished("t")));
        assert!(Found::Nothing.unmade("t").unwrap().starts_with("t does not exist"));
    }

    proptest! {
        #[test]
        fn a_mark_survives_the_comment(rows in any::<u64>(), complete in any::<bool>(), shape in "[a-z:,0-9]{0,9}") {
            let state = if complete { State::Complete } else { State::Loading };
            let mark = Mark::new("oltp", format!("rows={rows} seed=1"), state).with_shape(shape);
            prop_assert_eq!(Mark::parse("oltp", &mark.text()), Some(mark));
        }

        #[test]
        fn any_comment_is_a_mark_or_none(comment in ".{0,60}") {
            if let Some(mark) = Mark::parse("oltp", &comment) {
                prop_assert_eq!(mark.text(), comment);
            }
        }
    }
}
