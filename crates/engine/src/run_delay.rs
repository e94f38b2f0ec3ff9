//! How long threads of this process were ready to run and waited for a processor: what a busy machine does to a client,
//! whoever is to blame. The second number of /proc/self/task/TID/schedstat (kernel documentation, scheduler statistics).
//!
//! Reading one file for each thread costs some microseconds, so of very many threads a sample stands for all. Whether a
//! thread is in it depends on its number alone, through a hash: who else begins or ends changes nothing for it, and nothing
//! that threads have in common (their age, their place among the others) makes one more likely than another.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_core::random::{Rng, keyed};

/// Of how many threads the files are read, about: between half as many and as many.
const THREADS_MAX: usize = 256;

/// What has been seen of this process so far.
#[derive(Debug)]
pub(crate) struct RunDelay {
    tasks: PathBuf,
    /// All threads at the last probe, rising.
    threads: Vec<u64>,
    /// What those in the sample had waited by then, nanoseconds since they began.
    seen: BTreeMap<u64, u64>,
}

impl RunDelay {
    /// Begins to watch this process; `None` where the kernel does not count this.
    pub(crate) fn watch() -> Option<Self> {
        Self::below(Path::new("/proc/self"))
    }

    fn below(process: &Path) -> Option<Self> {
        fs::metadata(process.join("schedstat")).ok()?;
        let mut watched = Self {
            tasks: process.join("task"),
            threads: Vec::new(),
            seen: BTreeMap::new(),
        };
        watched.since_last_ns();
        Some(watched)
    }

    /// How long all threads together waited since this was asked last, nanoseconds.
    pub(crate) fn since_last_ns(&mut self) -> u64 {
        let threads = self.list();
        let halvings = halvings(threads.len());
        let probed: BTreeMap<u64, u64> = threads
            .iter()
            .filter(|thread| is_sampled(**thread, halvings))
            .filter_map(|thread| Some((*thread, self.waited_ns(*thread)?)))
            .collect();
        let risen = probed
            .iter()
            .filter_map(|(thread, waited_ns)| Some(waited_ns.saturating_sub(self.before(*thread)?)));
        let (count, sum_ns) = risen.fold((0, 0), |(count, sum_ns), risen_ns| {
            (count + 1, sum_ns + u128::from(risen_ns))
        });
        let all_ns = sum_ns * threads.len() as u128 / u128::max(count, 1);
        (self.threads, self.seen) = (threads, probed);
        u64::try_from(all_ns).unwrap_or(u64::MAX)
    }

    /// What a thread had waited at the last probe: nothing when it is new since. Of one that was there and not in the sample
    /// nobody knows it.
    fn before(&self, thread: u64) -> Option<u64> {
        let was_there = || self.threads.binary_search(&thread).is_ok();
        self.seen.get(&thread).copied().or_else(|| (!was_there()).then_some(0))
    }

    fn list(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.tasks).into_iter().flatten().flatten();
        let mut threads: Vec<u64> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        threads.sort_unstable();
        threads
    }

    fn waited_ns(&self, thread: u64) -> Option<u64> {
        let text = fs::read_to_string(self.tasks.join(thread.to_string()).join("schedstat")).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

/// How often the threads are halved until few enough are left.
fn halvings(threads_count: usize) -> u32 {
    threads_count.div_ceil(THREADS_MAX).max(1).next_power_of_two().ilog2()
}

/// Whether a thread is in the sample. After one more halving those that are were in it before, too.
fn is_sampled(thread: u64, halvings: u32) -> bool {
    keyed(0, 0, thread).next_u64().leading_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Process(PathBuf);

    impl Process {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("plimsoll-run-delay-{name}-{}", std::process::id()));
            fs::create_dir_all(path.join("task")).unwrap();
            Self(path)
        }

        fn says(&self, thread: u64, waited_ns: u64) {
            let folder = self.0.join("task").join(thread.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("schedstat"), format!("123 {waited_ns} 7\n")).unwrap();
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_kernel_that_does_not_count_is_nothing_to_watch() {
        let process = Process::new("none");
        assert!(RunDelay::below(&process.0).is_none());
    }

    #[test]
    fn what_threads_waited_is_added_up_from_look_to_look() {
        let process = Process::new("some");
        fs::write(process.0.join("schedstat"), "").unwrap();
        process.says(1, 1_000);
        let mut watched = RunDelay::below(&process.0).unwrap();
        assert_eq!(watched.since_last_ns(), 0);
        process.says(1, 1_500);
        process.says(2, 200); // new since
        assert_eq!(watched.since_last_ns(), 700);
        fs::remove_dir_all(process.0.join("task/1")).unwrap(); // ended
        process.says(2, 260);
        assert_eq!(watched.since_last_ns(), 60);
        fs::write(process.0.join("task/2/schedstat"), "nonsense").unwrap();
        assert_eq!(watched.since_last_ns(), 0);
    }

    /// A process of threads that have waited for very different times, as those have that began at different times.
    fn many(name: &str, threads: std::ops::RangeInclusive<u64>) -> (Process, RunDelay) {
        let process = Process::new(name);
        fs::write(process.0.join("schedstat"), "").unwrap();
        threads.for_each(|thread| process.says(thread, 1_000_000 * thread));
        let watched = RunDelay::below(&process.0).unwrap();
        (process, watched)
    }

    #[test]
    fn of_very_many_threads_a_sample_stands_for_all_and_others_that_come_or_go_do_not_change_it() {
        let (process, mut watched) = many("many", 1..=1_000);
        let step = |threads: std::ops::RangeInclusive<u64>, round: u64| {
            threads.for_each(|thread| process.says(thread, 1_000_000 * thread + 10 * round));
        };
        step(1..=1_000, 1);
        assert_eq!(watched.since_last_ns(), 10_000);
        fs::remove_dir_all(process.0.join("task/1")).unwrap(); // all others have another place now
        step(2..=1_000, 2);
        assert_eq!(watched.since_last_ns(), 9_990);
        (1_001..=1_010).for_each(|thread| process.says(thread, 10)); // new since: all of it counts
        step(2..=1_000, 3);
        assert_eq!(watched.since_last_ns(), 10_090);
    }

    #[test]
    fn a_sample_that_becomes_another_counts_no_past() {
        let (process, mut watched) = many("grows", 1..=200);
        (1..=200).for_each(|thread| process.says(thread, 1_000_000 * thread + 10));
        (201..=1_200).for_each(|thread| process.says(thread, 10));
        assert_eq!(watched.since_last_ns(), 12_000, "fewer are probed");
        (201..=1_200).for_each(|thread| fs::remove_dir_all(process.0.join(format!("task/{thread}"))).unwrap());
        (1..=200).for_each(|thread| process.says(thread, 1_000_000 * thread + 20));
        assert_eq!(watched.since_last_ns(), 2_000, "those that were probed stand for all");
        (1..=200).for_each(|thread| process.says(thread, 1_000_000 * thread + 30));
        assert_eq!(watched.since_last_ns(), 2_000, "and all of them are probed again");
    }

    /// Over all processes that might be, each thread is in the sample as often as any other: the mean of many estimates is the
    /// truth, also where every second thread waits, or the old ones do.
    #[test]
    fn the_estimate_has_no_bias_for_patterns_among_the_threads() {
        let estimates = |waits: fn(u64) -> bool| -> f64 {
            let ratios = (0..200).map(|process| {
                let threads = process * 40_000 + 1_000..process * 40_000 + 3_000;
                let sampled: Vec<u64> = threads.filter(|one| is_sampled(*one, halvings(2_000))).collect();
                sampled.iter().filter(|one| waits(**one)).count() as f64 / sampled.len() as f64
            });
            ratios.sum::<f64>() / 200.0
        };
        let every_second = estimates(|thread| thread % 2 == 0);
        let the_first_fifth = estimates(|thread| thread % 40_000 < 1_400);
        // Of 50,000 probes three standard errors are at most 0.007.
        assert!((every_second - 0.5).abs() < 0.007, "{every_second}");
        assert!((the_first_fifth - 0.2).abs() < 0.007, "{the_first_fifth}");
    }

    #[test]
    fn about_as_many_are_looked_at_as_are_to_be() {
        for count in [1, 256, 257, 1_000, 10_000, 100_000] {
            let halvings = halvings(count);
            let sampled = (1..=count as u64)
                .filter(|thread| is_sampled(*thread, halvings))
                .count();
            assert!(
                sampled <= THREADS_MAX + 60 && sampled >= count.min(THREADS_MAX / 2 - 30),
                "{sampled} of {count}"
            );
        }
    }
}
