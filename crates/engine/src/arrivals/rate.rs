//! How many transactions a second are wanted, over time: steps, each of one rate or a ramp between two.

use plimsoll_core::plan::RateStepPlan;

/// A step of the plan, which lasts at least 1 ms and has rates of 0 or more.
#[derive(Clone, Copy, Debug)]
struct Step {
    duration_ns: u64,
    from_tps: f64,
    to_tps: f64,
}

impl Step {
    fn of(plan: &RateStepPlan) -> Self {
        Self {
            duration_ns: plan.duration_ms * 1_000_000,
            from_tps: plan.from_tps,
            to_tps: plan.to_tps,
        }
    }

    /// Transactions wanted within `elapsed_s` of its begin.
    fn count_after(&self, elapsed_s: f64) -> f64 {
        self.from_tps * elapsed_s + self.slope() * elapsed_s * elapsed_s / 2.0
    }

    /// The seconds after its begin at which `count` transactions were wanted: the root of `count_after`, in the form that
    /// loses no digits where the slope is small, and needs no case of its own where it is 0.
    fn elapsed_s(&self, count: f64) -> f64 {
        let rate_then = (self.from_tps * self.from_tps + 2.0 * self.slope() * count)
            .max(0.0)
            .sqrt();
        match self.from_tps + rate_then {
            _ if self.from_tps == 0.0 && self.to_tps == 0.0 => f64::INFINITY,
            _ if count <= 0.0 => 0.0,
            double_mean_tps => 2.0 * count / double_mean_tps,
        }
    }

    fn slope(&self) -> f64 {
        (self.to_tps - self.from_tps) / self.duration_s()
    }

    fn duration_s(&self) -> f64 {
        self.duration_ns as f64 / 1e9
    }
}

/// Steps one after the other; the rate at the end of the last one goes on for ever. It is asked forwards only.
#[derive(Clone, Debug)]
pub(super) struct RateCurve {
    /// Those not yet behind us, in reverse order; the last entry is the current one.
    steps: Vec<Step>,
    begin_ns: u64,
    /// Transactions wanted before the current step.
    count_before: f64,
}

impl RateCurve {
    /// A curve of at least one step.
    pub(super) fn new(steps: &[RateStepPlan]) -> Self {
        let last = steps.last().expect("a rate has at least one step");
        let forever = Step {
            duration_ns: u64::MAX,
            from_tps: last.to_tps,
            to_tps: last.to_tps,
        };
        Self {
            steps: [forever].into_iter().chain(steps.iter().rev().map(Step::of)).collect(),
            begin_ns: 0,
            count_before: 0.0,
        }
    }

    /// When `count` transactions have been wanted since trial start, nanoseconds; `u64::MAX` for never. `count` must not
    /// be smaller than in the call before.
    pub(super) fn due_ns(&mut self, count: f64) -> u64 {
        loop {
            let step = self.steps[self.steps.len() - 1];
            let within = count - self.count_before;
            let total = step.count_after(step.duration_s());
            if self.steps.len() == 1 || within < total {
                return self.begin_ns.saturating_add((step.elapsed_s(within) * 1e9) as u64);
            }
            self.count_before += total;
            self.begin_ns = self.begin_ns.saturating_add(step.duration_ns);
            self.steps.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn step(duration_s: u64, from_tps: f64, to_tps: f64) -> RateStepPlan {
        RateStepPlan {
            duration_ms: duration_s * 1_000,
            from_tps,
            to_tps,
        }
    }

    fn all_due_before(end_ns: u64, steps: &[RateStepPlan]) -> Vec<u64> {
        let mut curve = RateCurve::new(steps);
        let due = (0..10_000).map(|n| curve.due_ns(f64::from(n)));
        due.take_while(|due_ns| *due_ns < end_ns).collect()
    }

    #[test]
    fn one_rate_is_even_and_goes_on_after_its_step() {
        let due = all_due_before(3 * S, &[step(1, 10.0, 10.0)]);
        assert_eq!(due.len(), 30);
        assert!(due.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(S / 10) <= 1));
    }

    #[test]
    fn a_ramp_wants_the_area_below_it() {
        // 0 to 100 tps in 10 s: 500 in all, a quarter of them in the first half.
        let due = all_due_before(10 * S, &[step(10, 0.0, 100.0)]);
        assert_eq!(due.len(), 500);
        assert_eq!(due.iter().filter(|due_ns| **due_ns < 5 * S).count(), 125);
        let down = all_due_before(10 * S, &[step(10, 100.0, 0.0)]);
        assert_eq!(down.iter().filter(|due_ns| **due_ns < 5 * S).count(), 375);
        assert_eq!(down.len(), 500);
    }

    #[test]
    fn steps_follow_each_other_and_a_pause_wants_nothing() {
        let due = all_due_before(4 * S, &[step(1, 50.0, 50.0), step(1, 0.0, 0.0), step(1, 20.0, 20.0)]);
        let between = |from: u64, to: u64| due.iter().filter(|t| (from * S..to * S).contains(t)).count();
        assert_eq!(
            (between(0, 1), between(1, 2), between(2, 3), between(3, 4)),
            (50, 0, 20, 20)
        );
    }

    #[test]
    fn after_a_last_step_that_ends_at_zero_nothing_is_wanted() {
        let mut curve = RateCurve::new(&[step(1, 4.0, 0.0)]);
        assert!(curve.due_ns(1.0) < S);
        assert_eq!(curve.due_ns(3.0), u64::MAX);
    }

    #[test]
    fn an_hour_at_a_high_rate_loses_no_arrival() {
        let mut curve = RateCurve::new(&[step(3600, 100_000.0, 100_000.0)]);
        assert_eq!(curve.due_ns(359_999_999.0).abs_diff(3600 * S - 10_000), 0);
    }
}
