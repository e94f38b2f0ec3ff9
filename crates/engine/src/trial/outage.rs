//! The outages of a trial as one doubt about its numbers.

use plimsoll_core::connections::Outage;
use plimsoll_core::message::{Done, EngineWarning};

/// What a person should know about them; `None` when there was none.
pub(super) fn warning(done: &Done) -> Option<EngineWarning> {
    let longest = done.outages.iter().max_by_key(|one| length_ns(one, done))?;
    let lost_count: u64 = done.outages.iter().map(|one| one.lost_count).sum();
    let times = match done.outages_count {
        1 => "one outage".to_owned(),
        count => format!("{count} outages"),
    };
    let end = match longest.to_ns {
        Some(_) => "",
        None => ", and was not over when the trial ended",
    };
    Some(EngineWarning {
        code: "outage".to_owned(),
        evidence: format!(
            "{lost_count} transactions were lost in {times}. The longest, of {} connections to {}, began {:.1} s after \
             the load and lasted {:.1} s{end}.",
            longest.connections_count,
            longest.instance,
            longest.from_ns as f64 / 1e9,
            length_ns(longest, done) as f64 / 1e9,
        ),
        advice: "Find out why the server ended the connections (its error log says so), or why it or the network fell \
                 silent; figures of intervals with an outage are those of the outage."
            .to_owned(),
    })
}

fn length_ns(outage: &Outage, done: &Done) -> u64 {
    let to_ns = outage.to_ns.unwrap_or(done.duration_ns);
    to_ns.saturating_sub(outage.from_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::message::{ClientCpu, EndReason};
    use plimsoll_core::plan::Role;

    fn done(outages: &[(u64, Option<u64>)]) -> Done {
        let outage = |&(from_ns, to_ns): &(u64, Option<u64>)| Outage {
            instance: "db".to_owned(),
            role: Role::Source,
            from_ns,
            to_ns,
            connections_count: 4,
            lost_count: 3,
        };
        Done {
            reason: EndReason::Completed,
            started_unix_ns: 0,
            duration_ns: 9_000_000_000,
            offered_count: 0,
            unfinished_count: 0,
            client: ClientCpu::default(),
            memory_bytes_max: 0,
            rows_count: 0,
            outages: outages.iter().map(outage).collect(),
            outages_count: outages.len() as u64,
        }
    }

    #[test]
    fn the_longest_is_told_with_when_and_how_long() {
        assert_eq!(warning(&done(&[])), None);
        let evidence = |outages| warning(&done(outages)).unwrap().evidence;
        let two = evidence(&[(500_000_000, Some(600_000_000)), (2_000_000_000, Some(4_500_000_000))]);
        assert!(
            two.starts_with("6 transactions were lost in 2 outages. The longest"),
            "{two}"
        );
        assert!(
            two.ends_with("of 4 connections to db, began 2.0 s after the load and lasted 2.5 s."),
            "{two}"
        );
        let open = evidence(&[(2_000_000_000, Some(4_500_000_000)), (5_000_000_000, None)]);
        assert!(
            open.ends_with("lasted 4.0 s, and was not over when the trial ended."),
            "{open}"
        );
    }
}
