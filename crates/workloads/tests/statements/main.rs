//! Users' own workloads on real servers: one binary, so that the servers start once.

#[path = "../support/mod.rs"]
mod support;

mod data;
mod interrupted;
mod items;
mod keys;
mod learned;
mod running;
mod same;
