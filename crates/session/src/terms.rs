//! What the sessions of one group do about errors: what they try again, and with what pauses they reconnect.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_core::plan::{ReconnectPlan, RetryRule};
use plimsoll_engine::WorkerFault;
use plimsoll_wire::fault::repeated_codes;

/// More rules than this nobody can keep apart; the counts of a transaction are kept on the stack.
const RULES_MAX: usize = 16;

/// Longest pause, milliseconds: an hour.
const PAUSE_MAX_MS: f64 = 3_600_000.0;

/// Shortest time after which a silent connection may count as lost, milliseconds: TCP counts in seconds.
const TIMEOUT_MIN_MS: u64 = 1_000;

/// Longest, milliseconds: a day.
const TIMEOUT_MAX_MS: u64 = 86_400_000;

/// As often as one transaction may be repeated.
const LIMIT_MAX: u32 = 1_000_000;

/// What the sessions of one group have agreed upon, and whether any of them has ever succeeded.
#[derive(Debug)]
pub struct Terms {
    rules: Vec<Rule>,
    pub(crate) reconnect: BackOff,
    /// A connection over TCP is lost when the other machine says nothing for so long although it was asked.
    pub(crate) network_timeout: Duration,
    /// A connection is lost when the server says nothing for so long; `None` waits for ever.
    pub(crate) read_timeout: Option<Duration>,
    /// What no rule names ends the run.
    pub(crate) is_strict: bool,
    /// Every code is repeated, by the first rule where no other has it.
    repeats_all: bool,
    /// In a strict run: a lost connection is opened again.
    pub(crate) survives_loss: bool,
    has_worked: AtomicBool,
}

/// What a strict run lives with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// Codes after which a transaction is repeated, as often as it takes.
    pub codes: Vec<u16>,
    /// All codes are.
    pub all: bool,
    /// A lost connection is opened again.
    pub lost_connections: bool,
}

#[derive(Debug)]
struct Rule {
    codes: Vec<u16>,
    limit: u32,
    pauses: BackOff,
}

/// Pauses, each twice as long as the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackOff {
    first: Duration,
    longest: Duration,
}

impl BackOff {
    /// The pause after `count` others.
    pub(crate) fn pause(self, count: u32) -> Duration {
        let doubled = 2u32
            .checked_pow(count)
            .map_or(self.longest, |factor| self.first.saturating_mul(factor));
        if self.first.is_zero() {
            Duration::ZERO
        } else {
            doubled.min(self.longest)
        }
    }
}

impl Terms {
    /// The terms of a plan.
    ///
    /// # Errors
    /// A fault of class `spec` that names the first thing that makes no sense.
    pub fn new(retry: &[RetryRule], reconnect: &ReconnectPlan) -> Result<Self, WorkerFault> {
        check_retry(retry)?;
        let rule = |rule: &RetryRule| {
            Ok(Rule {
                codes: rule.codes.clone(),
                limit: rule.limit,
                pauses: back_off("retry", rule.pause_ms, rule.pause_max_ms)?,
            })
        };
        Ok(Self {
            rules: retry.iter().map(rule).collect::<Result<_, _>>()?,
            reconnect: back_off("reconnect", reconnect.pause_ms, reconnect.pause_max_ms)?,
            network_timeout: timeout("network_timeout_ms", reconnect.network_timeout_ms)?,
            read_timeout: reconnect
                .read_timeout_ms
                .map(|ms| timeout("read_timeout_ms", ms))
                .transpose()?,
            is_strict: false,
            repeats_all: false,
            survives_loss: true,
            has_worked: AtomicBool::new(false),
        })
    }

    /// Terms under which every error ends the run but those that are tolerated, and every answer is waited for.
    pub fn strict(tolerance: Tolerance) -> Self {
        let rule = Rule {
            codes: tolerance.codes,
            limit: u32::MAX,
            pauses: BackOff {
                first: Duration::ZERO,
                longest: Duration::ZERO,
            },
        };
        Self {
            rules: vec![rule],
            read_timeout: None,
            is_strict: true,
            repeats_all: tolerance.all,
            survives_loss: tolerance.lost_connections,
            ..Self::default()
        }
    }

    /// Whether a transaction that met this error may be tried again.
    pub(crate) fn repeats(&self, code: u16) -> bool {
        self.rule(code).is_some()
    }

    /// Whether a transaction of the group has ever completed.
    pub(crate) fn has_worked(&self) -> bool {
        self.has_worked.load(Ordering::Relaxed)
    }

    /// A transaction completed. Only the first one writes: the rest would fight for a cache line.
    pub(crate) fn worked(&self) {
        if !self.has_worked() {
            self.has_worked.store(true, Ordering::Relaxed);
        }
    }

    fn rule(&self, code: u16) -> Option<usize> {
        let named = self.rules.iter().position(|rule| rule.codes.contains(&code));
        named.or(self.repeats_all.then_some(0))
    }
}

impl Default for Terms {
    /// Those of a plan that says nothing.
    fn default() -> Self {
        Self::new(&default_retry(), &ReconnectPlan::default()).expect("the defaults make sense")
    }
}

/// What is tried again where a plan says nothing: what servers ask for, at once, 99 times.
pub fn default_retry() -> Vec<RetryRule> {
    vec![RetryRule {
        codes: repeated_codes(),
        limit: 99,
        pause_ms: 0.0,
        pause_max_ms: RetryRule::default_pause_max_ms(),
    }]
}

/// How often one transaction was repeated, by rule. It does not hold the terms, which all connections share: counting their
/// holders for each transaction would make processors fight for a cache line.
#[derive(Default)]
pub(crate) struct Repetitions {
    counts: [u32; RULES_MAX],
}

impl Repetitions {
    /// The pause before the repetition that follows this error; `None` when the transaction has failed.
    pub(crate) fn next(&mut self, terms: &Terms, code: u16) -> Option<Duration> {
        let place = terms.rule(code)?;
        let (rule, count) = (&terms.rules[place], &mut self.counts[place]);
        if *count >= rule.limit {
            return None;
        }
        *count += 1;
        Some(rule.pauses.pause(*count - 1))
    }
}

fn check_retry(retry: &[RetryRule]) -> Result<(), WorkerFault> {
    if retry.len() > RULES_MAX {
        return Err(spec(&format!(
            "retry: must be at most {RULES_MAX} rules, are {}",
            retry.len()
        )));
    }
    let codes: Vec<u16> = retry.iter().flat_map(|rule| rule.codes.iter().copied()).collect();
    if let Some((_, twice)) = codes
        .iter()
        .enumerate()
        .find(|(position, code)| codes[..*position].contains(code))
    {
        return Err(spec(&format!(
            "retry.codes: {twice} is there twice; one rule can have it"
        )));
    }
    for rule in retry {
        if rule.codes.is_empty() || rule.codes.contains(&0) {
            let message = format!(
                "retry.codes: must be at least one of MySQL's error numbers, are {:?}",
                rule.codes
            );
            return Err(spec(&message));
        }
        if rule.limit > LIMIT_MAX {
            return Err(spec(&format!(
                "retry.limit: must be at most {LIMIT_MAX}, is {}",
                rule.limit
            )));
        }
    }
    Ok(())
}

fn back_off(place: &str, pause_ms: f64, pause_max_ms: f64) -> Result<BackOff, WorkerFault> {
    for (name, value_ms) in [("pause_ms", pause_ms), ("pause_max_ms", pause_max_ms)] {
        if !(0.0..=PAUSE_MAX_MS).contains(&value_ms) {
            let message = format!("{place}.{name}: must be 0..={PAUSE_MAX_MS}, is {value_ms}");
            return Err(spec(&message));
        }
    }
    Ok(BackOff {
        first: Duration::from_secs_f64(pause_ms / 1e3),
        longest: Duration::from_secs_f64(pause_max_ms / 1e3),
    })
}

fn timeout(name: &str, value_ms: u64) -> Result<Duration, WorkerFault> {
    if !(TIMEOUT_MIN_MS..=TIMEOUT_MAX_MS).contains(&value_ms) {
        return Err(spec(&format!(
            "reconnect.{name}: must be {TIMEOUT_MIN_MS}..={TIMEOUT_MAX_MS}, is {value_ms}"
        )));
    }
    Ok(Duration::from_millis(value_ms))
}

fn spec(message: &str) -> WorkerFault {
    WorkerFault::spec(format!("group.{message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(codes: &[u16], limit: u32, pause_ms: f64) -> RetryRule {
        RetryRule {
            codes: codes.to_vec(),
            limit,
            pause_ms,
            pause_max_ms: 50.0,
        }
    }

    fn terms(retry: &[RetryRule]) -> Terms {
        Terms::new(retry, &ReconnectPlan::default()).unwrap()
    }

    #[test]
    fn each_rule_counts_for_itself_and_its_codes_together() {
        let terms = terms(&[rule(&[1213, 1020], 3, 0.0), rule(&[1205], 1, 0.0)]);
        let mut repetitions = Repetitions::default();
        let allowed = [1213, 1205, 1020, 1205, 1213, 1213, 1062].map(|code| repetitions.next(&terms, code).is_some());
        assert_eq!(allowed, [true, true, true, false, true, false, false]);
        assert!(
            Repetitions::default().next(&terms, 1205).is_some(),
            "the next transaction begins anew"
        );
        assert!(terms.repeats(1205) && !terms.repeats(1062));
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let terms = terms(&[rule(&[1213], 99, 10.0)]);
        let mut repetitions = Repetitions::default();
        let pauses: Vec<u128> = (0..5)
            .map(|_| repetitions.next(&terms, 1213).unwrap().as_millis())
            .collect();
        assert_eq!(pauses, [10, 20, 40, 50, 50]);
        assert_eq!(terms.rules[0].pauses.pause(4_000), Duration::from_millis(50));
        let at_once = BackOff {
            first: Duration::ZERO,
            longest: Duration::from_secs(1),
        };
        assert_eq!((at_once.pause(0), at_once.pause(99)), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn the_defaults_are_what_servers_ask_to_be_tried_again() {
        let terms = Terms::default();
        assert!([1213, 1205, 1020].iter().all(|code| terms.repeats(*code)));
        let mut repetitions = Repetitions::default();
        assert_eq!(
            (0..200).filter(|_| repetitions.next(&terms, 1213).is_some()).count(),
            99
        );
    }

    #[test]
    fn strict_terms_repeat_what_is_tolerated_for_ever() {
        let strict = |all| {
            Terms::strict(Tolerance {
                codes: vec![1213],
                all,
                lost_connections: false,
            })
        };
        assert!(strict(false).repeats(1213) && !strict(false).repeats(1062) && strict(true).repeats(1062));
        let terms = strict(true);
        let mut repetitions = Repetitions::default();
        assert!((0..10_000).all(|_| repetitions.next(&terms, 1062) == Some(Duration::ZERO)));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_thing_and_the_value() {
        let refused = |retry: &[RetryRule]| Terms::new(retry, &ReconnectPlan::default()).unwrap_err().message;
        assert!(refused(&[rule(&[1213], 1, 0.0), rule(&[1213], 2, 0.0)]).contains("1213 is there twice"));
        assert!(refused(&[rule(&[], 1, 0.0)]).starts_with("group.retry.codes: must be at least one"));
        assert!(refused(&[rule(&[1213], 1, -1.0)]).starts_with("group.retry.pause_ms: must be 0..=3600000, is -1"));
        assert!(refused(&[rule(&[1213], u32::MAX, 0.0)]).contains("retry.limit"));
        let many: Vec<_> = (1..=17).map(|code| rule(&[code], 1, 0.0)).collect();
        assert!(refused(&many).contains("at most 16 rules, are 17"));
        let reconnect = ReconnectPlan {
            pause_max_ms: f64::INFINITY,
            ..ReconnectPlan::default()
        };
        assert!(
            Terms::new(&[], &reconnect)
                .unwrap_err()
                .message
                .starts_with("group.reconnect.pause_max_ms")
        );
        let reconnect = ReconnectPlan {
            read_timeout_ms: Some(999),
            ..ReconnectPlan::default()
        };
        let message = Terms::new(&[], &reconnect).unwrap_err().message;
        assert_eq!(
            message,
            "group.reconnect.read_timeout_ms: must be 1000..=86400000, is 999"
        );
    }
}
