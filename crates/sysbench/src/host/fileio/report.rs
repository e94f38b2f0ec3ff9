//! What the test `fileio` tells.

use crate::compat::Compat;
use crate::log::{Level, Log};
use crate::report::{Stat, blocks, general};

const MIB: f64 = (1 << 20) as f64;
const MB: f64 = 1e6;

/// Rates of a stretch, per second.
struct Rates {
    reads: f64,
    writes: f64,
    syncs: f64,
    /// Mean length of a request, bytes.
    request_bytes: f64,
}

impl Rates {
    fn of(stat: &Stat, syncs_count: u64, request_bytes: f64) -> Self {
        Self {
            reads: stat.per_s(stat.reads),
            writes: stat.per_s(stat.writes),
            syncs: stat.per_s(syncs_count),
            request_bytes,
        }
    }

    fn read(&self, unit: f64) -> f64 {
        self.reads * self.request_bytes / unit
    }

    fn written(&self, unit: f64) -> f64 {
        self.writes * self.request_bytes / unit
    }
}

/// One line for a stretch.
pub(super) fn intermediate(stat: &Stat, request_bytes: f64, log: &Log) {
    let rates = Rates::of(stat, stat.other, request_bytes);
    let percent = stat.percentiles.first().copied().unwrap_or_default();
    log.line(
        Level::Notice,
        format_args!(
            "[ {:.0}s ] reads: {:4.2} MiB/s writes: {:4.2} MiB/s fsyncs: {:4.2}/s latency (ms,{percent}%): {:4.3}",
            stat.time_total_s,
            rates.read(MIB),
            rates.written(MIB),
            rates.syncs,
            stat.latency_pct_s() * 1e3
        ),
    );
}

/// The whole; files that were synchronised after the last event count too.
pub(super) fn cumulative(stat: &Stat, end_syncs_count: u64, request_bytes: f64, log: &Log) {
    let rates = Rates::of(stat, stat.other + end_syncs_count, request_bytes);
    if stat.compat < Compat::V11 {
        let own = [rates.as_1_0(), blocks::throughput(stat)].concat();
        return general::ending(&own, stat, log);
    }
    let text = [rates.as_1_1(), blocks::latency(stat)].concat();
    log.lines(Level::Notice, text);
}

impl Rates {
    fn as_1_0(&self) -> String {
        format!(
            "\nFile operations:\n    reads/s:                      {:4.2}\n    writes/s:                     {:4.2}\n    \
             fsyncs/s:                     {:4.2}\n\nThroughput:\n    read, MiB/s:                  {:4.2}\n    written, \
             MiB/s:               {:4.2}\n\n",
            self.reads,
            self.writes,
            self.syncs,
            self.read(MIB),
            self.written(MIB)
        )
    }

    fn as_1_1(&self) -> String {
        format!(
            "\nThroughput:\n         read:  IOPS={:4.2} {:4.2} MiB/s ({:4.2} MB/s)\n         write: IOPS={:4.2} {:4.2} \
             MiB/s ({:4.2} MB/s)\n         fsync: IOPS={:4.2}\n\n",
            self.reads,
            self.read(MIB),
            self.read(MB),
            self.writes,
            self.written(MIB),
            self.written(MB),
            self.syncs
        )
    }
}
