//! What Plimsoll writes into the comment of a table that it made: what the table holds, of which shape it is, and how far
//! its making came.

use std::fmt::Write as _;

use plimsoll_core::plan::{Distribution, Layout, OltpData};

use crate::fingerprint::fnv1a;
use crate::loading::mark::{self, State};

/// What Plimsoll writes into the comment of a table that it made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Rows when complete.
    pub rows: u64,
    /// What the content follows from.
    pub seed: u64,
    /// How far it came.
    pub state: State,
    /// In what it differs from the usual shape; empty when in nothing.
    pub shape: String,
}

impl Mark {
    const PREFIX: &'static str = "plimsoll oltp ";

    /// The mark of a table of this data set.
    pub fn new(data: &OltpData, state: State) -> Self {
        Self {
            rows: data.rows_each(),
            seed: data.seed,
            state,
            shape: shape(data),
        }
    }

    /// The comment.
    pub fn text(&self) -> String {
        let state = self.state.word();
        let mut text = format!("{}rows={} seed={} state={state}", Self::PREFIX, self.rows, self.seed);
        if !self.shape.is_empty() {
            let _ = write!(text, " shape={}", self.shape);
        }
        text
    }

    /// The mark in a comment; `None` when it is none of ours.
    pub fn parse(comment: &str) -> Option<Self> {
        let mut fields = comment.strip_prefix(Self::PREFIX)?.split(' ');
        let mut field = |name: &str| fields.next()?.strip_prefix(name)?.strip_prefix('=');
        let rows = field("rows")?.parse().ok()?;
        let seed = field("seed")?.parse().ok()?;
        let state = State::parse(field("state")?)?;
        let shape = field("shape").unwrap_or_default().to_owned();
        Some(Self {
            rows,
            seed,
            state,
            shape,
        })
    }
}

impl mark::Mark for Mark {
    fn state(&self) -> State {
        self.state
    }
}

/// In what a data set differs from the tables that sysbench 1 makes without options. It has no spaces and no quotes.
fn shape(data: &OltpData) -> String {
    let usual = OltpData::default();
    let mut parts = Vec::new();
    let mut when = |differs: bool, words: String| {
        if differs {
            parts.push(words);
        }
    };
    let layout = match data.layout {
        Layout::Sysbench1 => "1",
        Layout::Sysbench04 => "0.4",
        Layout::Bulk => "bulk",
    };
    when(data.layout != usual.layout, format!("layout:{layout}"));
    when(data.empty, "empty".to_owned());
    when(data.distribution != usual.distribution, drawn(data.distribution));
    when(data.secondary, "secondary".to_owned());
    when(!data.create_secondary, "no-index-on-k".to_owned());
    when(!data.auto_increment, "no-auto-increment".to_owned());
    when(
        !data.storage_engine.eq_ignore_ascii_case(&usual.storage_engine),
        format!("engine:{}", data.storage_engine.to_ascii_lowercase()),
    );
    let options = &data.table_options;
    when(
        !options.is_empty(),
        format!("options:{:016x}", fnv1a(options.as_bytes())),
    );
    parts.join(",")
}

fn drawn(distribution: Distribution) -> String {
    match distribution {
        Distribution::Uniform {} => "k:uniform".to_owned(),
        Distribution::Gaussian(bell) => format!("k:gaussian:{}", bell.draws),
        Distribution::Special04(band) | Distribution::Special10(band) => {
            let version = if matches!(distribution, Distribution::Special04(_)) {
                "0.4"
            } else {
                "1.0"
            };
            let (rows, accesses) = (band.hot_rows_percent, band.hot_accesses_percent);
            format!("k:special-{version}:{rows}:{accesses}:{}", band.draws)
        }
        Distribution::Pareto(pareto) => format!("k:pareto:{}", pareto.h),
        Distribution::Zipfian(zipfian) => format!("k:zipfian:{}", zipfian.exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::plan::Zipfian;
    use proptest::prelude::*;

    #[test]
    fn comments_of_others_are_no_marks() {
        for comment in [
            "",
            "plimsoll",
            "plimsoll oltp ",
            "plimsoll oltp rows=1 seed=2",
            "plimsoll oltp rows=1 seed=2 state=x",
        ] {
            assert_eq!(Mark::parse(comment), None, "{comment}");
        }
    }

    #[test]
    fn the_usual_shape_needs_no_words_and_every_other_has_its_own() {
        let usual = OltpData::default();
        assert_eq!(
            Mark::new(&usual, State::Complete).text(),
            "plimsoll oltp rows=10000 seed=1 state=complete"
        );
        let others = [
            OltpData {
                layout: Layout::Sysbench04,
                ..usual.clone()
            },
            OltpData {
                layout: Layout::Bulk,
                empty: true,
                ..usual.clone()
            },
            OltpData {
                empty: true,
                ..usual.clone()
            },
            OltpData {
                distribution: Distribution::Zipfian(Zipfian { exponent: 0.5 }),
                ..usual.clone()
            },
            OltpData {
                secondary: true,
                ..usual.clone()
            },
            OltpData {
                create_secondary: false,
                ..usual.clone()
            },
            OltpData {
                auto_increment: false,
                ..usual.clone()
            },
            OltpData {
                storage_engine: "MyISAM".to_owned(),
                ..usual.clone()
            },
            OltpData {
                table_options: "ROW_FORMAT='x y'".to_owned(),
                ..usual.clone()
            },
        ];
        let mut shapes: Vec<String> = others.iter().map(shape).collect();
        shapes.sort();
        shapes.dedup();
        assert_eq!(shapes.len(), others.len());
        for data in &others {
            let mark = Mark::new(data, State::Loading);
            assert!(!mark.text().contains('\''), "{}", mark.text());
            assert_eq!(Mark::parse(&mark.text()), Some(mark));
        }
    }

    proptest! {
        #[test]
        fn a_mark_survives_the_comment(rows in any::<u64>(), seed in any::<u64>(), complete in any::<bool>()) {
            let state = if complete { State::Complete } else { State::Loading };
            let mark = Mark { rows, seed, state, shape: String::new() };
            prop_assert_eq!(Mark::parse(&mark.text()), Some(mark));
        }
    }
}
