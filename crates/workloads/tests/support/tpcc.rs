//! Tables of the TPC-C-derived workload as its tests make them.

use plimsoll_core::plan::{DataPlan, DataSet, LoadMethod, Target, TpccData};

/// A plan for these tables by two loaders.
pub fn data_plan(target: &Target, data: TpccData) -> DataPlan {
    DataPlan {
        protocol: 1,
        target: target.clone(),
        data_set: DataSet::Tpcc(data),
        loaders: 2,
        method: LoadMethod::Auto,
        drop_foreign: false,
    }
}
