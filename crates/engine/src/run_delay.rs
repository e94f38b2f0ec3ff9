//! How long threads of this process were ready to run and waited for a processor: what a busy machine does to a client,
//! whoever is to blame. The second number of /proc/self/task/TID/schedstat (kernel documentation, scheduler statistics).
//!
//! Reading one file for each thread costs some microseconds, so of very many threads an even share is looked at.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Of how many threads the files are read at most.
const THREADS_MAX: usize = 256;

/// What has been seen of this process so far.
#[derive(Debug)]
pub(crate) struct RunDelay {
    tasks: PathBuf,
    /// By thread, nanoseconds since it began.
    seen: BTreeMap<u64, u64>,
}

impl RunDelay {
    /// Begins to look at this process; `None` where the kernel does not count this.
    pub(crate) fn watch() -> Option<Self> {
        Self::below(Path::new("/proc/self"))
    }

    fn below(process: &Path) -> Option<Self> {
        fs::metadata(process.join("schedstat")).ok()?;
        let mut watched = Self {
            tasks: process.join("task"),
            seen: BTreeMap::new(),
        };
        watched.since_last_ns();
        Some(watched)
    }

    /// How long all threads together waited since this was asked last, nanoseconds.
    pub(crate) fn since_last_ns(&mut self) -> u64 {
        let threads = self.threads();
        let step = threads.len().div_ceil(THREADS_MAX).max(1);
        let looked_at: BTreeMap<u64, u64> = threads
            .iter()
            .step_by(step)
            .filter_map(|thread| Some((*thread, self.waited_ns(*thread)?)))
            .collect();
        let risen = looked_at
            .iter()
            .map(|(thread, waited_ns)| waited_ns.saturating_sub(self.seen.get(thread).copied().unwrap_or(0)));
        let sum_ns: u64 = risen.sum();
        let share = looked_at.len().max(1) as f64 / threads.len().max(1) as f64;
        self.seen = looked_at;
        (sum_ns as f64 / share) as u64
    }

    fn threads(&self) -> Vec<u64> {
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

    #[test]
    fn of_very_many_threads_an_even_share_stands_for_all() {
        let process = Process::new("many");
        fs::write(process.0.join("schedstat"), "").unwrap();
        (1..=1_000).for_each(|thread| process.says(thread, 0));
        let mut watched = RunDelay::below(&process.0).unwrap();
        (1..=1_000).for_each(|thread| process.says(thread, 10));
        assert_eq!(watched.since_last_ns(), 10_000);
    }
}
