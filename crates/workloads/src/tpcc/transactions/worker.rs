//! Chooses and runs transactions on the connections of one session.

use std::sync::Arc;

use plimsoll_core::plan::TpccOptions;
use plimsoll_core::statement::SentStatement;
use plimsoll_engine::{
    Arrival, Gate, GroupServer, Interrupter, Outcome, ServerIndex, Worker, WorkerFactory, WorkerFault,
};
use plimsoll_session::{Session, Sessions, StatementError, StatementId, transact};

use super::choice::{Choice, Type};
use super::client::{Client, Memory};
use super::delivery::Delivery;
use super::input::Inputs;
use super::new_order::NewOrder;
use super::order_status::OrderStatus;
use super::payment::Payment;
use super::statements::Catalogue;
use super::stock_level::StockLevel;
use super::terminals::Homes;
use crate::workload::Setting;

/// What deliveries are called that are carried out from the queue; [`Type::Delivery`] is then to put one there.
const DEFERRED: &str = "delivery_deferred";

/// Builds the workers of one group.
pub struct TpccFactory {
    catalogue: Arc<Catalogue>,
    draws: Draws,
    sessions: Sessions,
    /// Workers below this number serve terminals.
    connections: u32,
    defers_deliveries: bool,
}

impl TpccFactory {
    /// For options that have no faults. Workers besides those of the `connections` carry out queued deliveries.
    pub fn new(options: &TpccOptions, setting: Setting<'_>) -> Self {
        let Setting {
            servers,
            seed,
            connections,
            terms,
        } = setting;
        let catalogue = Arc::new(Catalogue::new(options));
        Self {
            sessions: Sessions::new(servers, Arc::clone(&catalogue.statements), terms, seed),
            catalogue,
            draws: Draws {
                inputs: Inputs::new(options, seed),
                choice: Choice::new(options, seed),
                homes: Homes::new(options, options.terminals.unwrap_or(connections.total)),
                seed,
            },
            connections: connections.own(),
            defers_deliveries: options.delivery_connections > 0,
        }
    }
}

impl WorkerFactory for TpccFactory {
    fn transaction_names(&self) -> Vec<String> {
        let deferred = self.defers_deliveries.then_some(DEFERRED);
        let names = Type::ALL.into_iter().map(Type::name).chain(deferred);
        names.map(str::to_owned).collect()
    }

    fn statements(&self) -> Vec<SentStatement> {
        let of = |(kind, ids): (Type, Vec<StatementId>)| {
            ids.into_iter().map(move |id| SentStatement {
                transaction: kind.name().to_owned(),
                sql: self.catalogue.statements.text(id).to_owned(),
                times: None,
            })
        };
        self.catalogue
            .sent()
            .into_iter()
            .filter(|(kind, _)| self.draws.choice.may_be(*kind))
            .flat_map(of)
            .collect()
    }

    fn servers(&self) -> Vec<GroupServer> {
        self.sessions.servers()
    }

    fn build(&self, worker: u32) -> Result<Box<dyn Worker>, WorkerFault> {
        let deliveries = match (self.defers_deliveries, worker < self.connections) {
            (false, _) => Deliveries::AtOnce,
            (true, true) => Deliveries::Queued,
            (true, false) => Deliveries::FromQueue,
        };
        Ok(Box::new(TpccWorker {
            session: self.sessions.open(worker)?,
            catalogue: Arc::clone(&self.catalogue),
            draws: self.draws,
            deliveries,
            memory: Memory::default(),
        }))
    }
}

/// What becomes of a delivery.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deliveries {
    /// It is carried out while the terminal waits.
    AtOnce,
    /// The terminal goes on; another connection will be told.
    Queued,
    /// This is that other connection.
    FromQueue,
}

struct TpccWorker {
    session: Session,
    catalogue: Arc<Catalogue>,
    draws: Draws,
    deliveries: Deliveries,
    memory: Memory,
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
            let (kind, transaction) = self.draws.draw(&arrival);
            let reported = match (self.deliveries, kind) {
                (Deliveries::Queued, Type::Delivery) => {
                    gate.sent();
                    gate.finish(kind as usize, Outcome::Completed);
                    continue;
                }
                (Deliveries::FromQueue, _) => Type::ALL.len(),
                _ => kind as usize,
            };
            let (catalogue, memory) = (&*self.catalogue, &mut self.memory);
            transact(&mut self.session, gate, (reported, kind.role()), |session, gate| {
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

    fn is_connected(&self, server: ServerIndex) -> bool {
        self.session.is_connected(server)
    }

    fn interrupter(&self) -> Interrupter {
        self.session.interrupter()
    }
}

/// Makes transactions: the same for the same arrival.
#[derive(Clone, Copy)]
struct Draws {
    inputs: Inputs,
    choice: Choice,
    homes: Homes,
    seed: u64,
}

impl Draws {
    fn draw(&self, arrival: &Arrival) -> (Type, Transaction) {
        let kind = self.choice.of(arrival.actor, arrival.index);
        let (inputs, random) = (&self.inputs, &mut arrival.random(self.seed));
        let home = if inputs.deviations().draws_homes {
            inputs.any_home(random)
        } else {
            self.homes.of(arrival.actor, random)
        };
        let transaction = match kind {
            Type::NewOrder => Transaction::NewOrder(NewOrder::draw(inputs, home.warehouse, random)),
            Type::Payment => Transaction::Payment(Payment::draw(inputs, home.warehouse, random)),
            Type::OrderStatus => Transaction::OrderStatus(OrderStatus::draw(inputs, home.warehouse, random)),
            Type::Delivery => Transaction::Delivery(Delivery::draw(home.warehouse, random)),
            Type::StockLevel => Transaction::StockLevel(StockLevel::draw(home, random)),
        };
        (kind, transaction)
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
