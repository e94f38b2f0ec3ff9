//! What Plimsoll writes into the comment of a table that it made: what the table holds, and of which shape it is.

use plimsoll_core::plan::{Distribution, Layout, OltpData};

use crate::fingerprint::fnv1a;
use crate::loading::mark::{Mark, State};

/// What these tables are called in their marks.
pub const KIND: &str = "oltp";

/// The mark of a table of this data set.
pub fn mark(data: &OltpData, state: State) -> Mark {
    let made = format!("rows={} seed={}", data.rows_each(), data.seed);
    Mark::new(KIND, made, state).with_shape(shape(data))
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

    #[test]
    fn the_usual_shape_needs_no_words_and_every_other_has_its_own() {
        let usual = OltpData::default();
        assert_eq!(
            mark(&usual, State::Complete).text(),
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
            let mark = mark(data, State::Loading);
            assert!(!mark.text().contains('\''), "{}", mark.text());
            assert_eq!(Mark::parse(KIND, &mark.text()), Some(mark));
        }
    }
}
