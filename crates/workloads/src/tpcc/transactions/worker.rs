//! Chooses and runs transactions on the connections of one session.

use std::sync::Arc;

use plimsoll_core::plan::{RoleTarget, TpccOptions};
use plimsoll_core::random::{Random, below};
use plimsoll_engine::{Gate, Interrupter, Worker, WorkerFactory, WorkerFault};
use plimsoll_session::{Session, StatementError, Terms, transact};

use super::client::{Client, Memory};
use super::delivery::Delivery;
use super::input::Inputs;
use super::new_order::NewOrder;
use super::order_status::OrderStatus;
use super::payment::Payment;
use super::statements::Catalogue;
use super::stock_level::StockLevel;
use crate::tpcc::random::within;

/// Types of transactions, in the order of their weights.
const NAMES: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

/// Builds the workers of one group.
pub struct TpccFactory {
    catalogue: Arc<Catalogue>,
    inputs: Inputs,
    weights: [u32; 5],
    targets: Vec<RoleTarget>,
    connections: u32,
    seed: u64,
    terms: Arc<Terms>,
}

impl TpccFactory {
    /// For options that have no faults.
    pub fn new(options: &TpccOptions, targets: &[RoleTarget], seed: u64, connections: u32, terms: Terms) -> Self {
        Self {
            catalogue: Arc::new(Catalogue::new(options)),
            inputs: Inputs::new(options, seed),
            weights: options.mix.weights(),
            targets: targets.to_vec(),
            connections,
            seed,
            terms: Arc::new(terms),
        }
    }
}

impl WorkerFactory for TpccFactory {
    fn transaction_names(&self) -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        Ok(Box::new(TpccWorker {
            session: Session::open(&self.targets, &self.catalogue.statements, &self.terms)?,
            catalogue: Arc::clone(&self.catalogue),
            inputs: self.inputs,
            weights: self.weights,
            share: self.inputs.share(worker, self.connections),
            memory: Memory::default(),
            seed: self.seed,
        }))
    }
}

struct TpccWorker {
    session: Session,
    catalogue: Arc<Catalogue>,
    inputs: Inputs,
    weights: [u32; 5],
    share: (u32, u32),
    memory: Memory,
    seed: u64,
}

/// One transaction with its values, which stay the same when it is repeated.
enum Transaction {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl Worker for TpccWorker {
    fn run(&mut self, gate: &mut Gate<'_>) -> Result<(), WorkerFault> {
        while let Some(arrival) = gate.next() {
            let (chosen, transaction) = self.draw(&mut arrival.random(self.seed));
            let (catalogue, memory) = (&*self.catalogue, &mut self.memory);
            transact(&mut self.session, gate, chosen, |session, gate| {
                transaction.run(&mut Client {
                    session,
                    gate,
                    memory,
                    catalogue,
                })
            })?;
        }
        Ok(())
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}

impl TpccWorker {
    fn draw(&self, random: &mut Random) -> (usize, Transaction) {
        let (inputs, chosen) = (&self.inputs, choose(&self.weights, random));
        let warehouse = within(random, self.share.0, self.share.1);
        let transaction = match chosen {
            0 => Transaction::NewOrder(NewOrder::draw(inputs, warehouse, random)),
            1 => Transaction::Payment(Payment::draw(inputs, warehouse, random)),
            2 => Transaction::OrderStatus(OrderStatus::draw(inputs, warehouse, random)),
            3 => Transaction::Delivery(Delivery::draw(warehouse, random)),
            _ => Transaction::StockLevel(StockLevel::draw(warehouse, random)),
        };
        (chosen, transaction)
    }
}

impl Transaction {
    fn run(&self, client: &mut Client<'_, '_>) -> Result<(), StatementError> {
        match self {
            Self::NewOrder(one) => one.run(client),
            Self::Payment(one) => one.run(client),
            Self::OrderStatus(one) => one.run(client),
            Self::Delivery(one) => one.run(client),
            Self::StockLevel(one) => one.run(client),
        }
    }
}

/// The place of a type, by weight.
fn choose(weights: &[u32; 5], random: &mut Random) -> usize {
    let total = weights.iter().map(|weight| u64::from(*weight)).sum();
    let mut drawn = below(random, total);
    for (place, weight) in weights.iter().enumerate() {
        if drawn < u64::from(*weight) {
            return place;
        }
        drawn -= u64::from(*weight);
    }
    unreachable!("what is drawn is less than all weights together")
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;

    #[test]
    fn types_are_chosen_by_weight() {
        let mut random = keyed(1, 0, 0);
        let mut counts = [0u32; 5];
        for _ in 0..100_000 {
            counts[choose(&[45, 43, 0, 8, 4], &mut random)] += 1;
        }
        let wanted = [45_000, 43_000, 0, 8_000, 4_000];
        assert!(
            counts
                .iter()
                .zip(wanted)
                .all(|(count, wanted)| count.abs_diff(wanted) < 700),
            "{counts:?}"
        );
    }
}
