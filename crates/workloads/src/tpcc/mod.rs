//! The TPC-C-derived workload: nine tables by clause 4.3 of TPC-C revision 5.11, their rows, and whether they are
//! consistent by clause 3.3.2.
//!
//! What is measured with it is no TPC-C result: `docs/tpcc.md` says where it departs.

mod check;
mod consistency;
pub mod data;
mod inspect;
mod load;
mod population;
mod random;
mod scale;
mod tables;
