//! The load of groups that take turns: the begin that is told apart, the rest of the turn, the drain, the handover.
//!
//! Intervals end where parts of turns do, at the time at which that was seen and not at the one that was planned.

use plimsoll_core::message::{Handover, Message, Part, TurnPart};
use plimsoll_core::plan::TurnsPlan;

use super::Leader;
use crate::lifecycle::State;
use crate::turns::Turns;

/// Where the taking of turns stands.
pub(super) struct TurnTaking {
    options: TurnsPlan,
    turn: usize,
    stage: Stage,
}

/// What the current turn waits for. Times are nanoseconds since trial start.
#[derive(Clone, Copy)]
enum Stage {
    /// The word that its server runs.
    Handover,
    /// The end of its first part.
    Lead { until_ns: u64, end_ns: u64 },
    /// Its end.
    Counted { end_ns: u64 },
    /// The last transaction in flight.
    Drain,
    /// Nothing: all turns were taken.
    Over,
}

impl TurnTaking {
    pub(super) fn new(options: TurnsPlan) -> Self {
        Self {
            options,
            turn: 0,
            stage: Stage::Handover,
        }
    }

    /// When the stage ends at the latest; where something else ends it, `usual_ns`.
    pub(super) fn deadline_ns(&self, usual_ns: u64) -> u64 {
        match self.stage {
            Stage::Lead { until_ns, .. } => until_ns,
            Stage::Counted { end_ns } => end_ns,
            _ => usual_ns,
        }
    }

    /// Whether what the stage waits for has happened.
    pub(super) fn is_ready(&self, state: &State, turns: &Turns) -> bool {
        match self.stage {
            Stage::Handover => state.go == Some(self.turn as u64),
            Stage::Drain => turns.is_idle(self.side()),
            _ => false,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// What is said to get the next turn.
    pub(super) fn handover(&self) -> Message {
        Message::Handover(Handover {
            turn: self.turn as u64,
            side: self.side(),
        })
    }

    fn side(&self) -> u32 {
        self.options.order[self.turn]
    }

    fn part(&self, part: Part) -> TurnPart {
        TurnPart {
            turn: self.turn as u64,
            side: self.side(),
            part,
        }
    }

    /// The stages of a turn that begins at `now_ns`.
    fn begun(&self, now_ns: u64) -> Stage {
        Stage::Lead {
            until_ns: now_ns + self.options.lead_ms * 1_000_000,
            end_ns: now_ns + self.options.turn_ms * 1_000_000,
        }
    }

    fn next_turn(&mut self) {
        self.turn += 1;
        self.stage = if self.turn < self.options.order.len() {
            Stage::Handover
        } else {
            Stage::Over
        };
    }
}

impl Leader<'_> {
    /// Does what is due for the current turn; `is_ready` says whether what it waits for has happened.
    pub(super) fn take_turns(&mut self, mut taking: TurnTaking, is_ready: bool, now_ns: u64) -> TurnTaking {
        let trial = self.trial;
        let turns = &trial.lifecycle.turns;
        match taking.stage {
            Stage::Handover if is_ready => {
                self.pass_over();
                turns.begin(taking.side());
                taking.stage = taking.begun(self.from_ns);
            }
            Stage::Lead { until_ns, end_ns } if now_ns >= until_ns => {
                self.emit_part(taking.part(Part::Lead));
                taking.stage = Stage::Counted { end_ns };
            }
            Stage::Counted { end_ns } if now_ns >= end_ns => {
                turns.pause(taking.side());
                self.emit_part(taking.part(Part::Counted));
                taking.stage = Stage::Drain;
            }
            Stage::Drain if is_ready => {
                self.emit_part(taking.part(Part::Drain));
                taking.next_turn();
                if !taking.is_over() {
                    self.observer.on(&taking.handover());
                }
            }
            Stage::Drain if now_ns >= self.next_boundary_ns() => self.emit_part(taking.part(Part::Drain)),
            _ => {}
        }
        taking
    }

    fn emit_part(&mut self, part: TurnPart) {
        self.part = Some(part);
        self.emit(self.clock.now_ns());
        self.part = None;
    }
}
