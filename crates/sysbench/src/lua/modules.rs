//! Lua that is part of the program: what makes `sysbench.*`, and the workloads that scripts `require`.

/// Runs in each state before the script, in this order, by the names that messages show.
pub const RUNTIME: [(&str, &str); 8] = [
    ("declarations", include_str!("../../lua/declarations.lua")),
    ("sysbench.lua", include_str!("../../lua/sysbench.lua")),
    ("sysbench.rand.lua", include_str!("../../lua/sysbench.rand.lua")),
    ("sysbench.sql.lua", include_str!("../../lua/sysbench.sql.lua")),
    ("sysbench.cmdline.lua", include_str!("../../lua/sysbench.cmdline.lua")),
    ("sysbench.report.lua", include_str!("../../lua/sysbench.report.lua")),
    ("legacy.lua", include_str!("../../lua/legacy.lua")),
    ("host.lua", include_str!("../../lua/host.lua")),
];

const WORKLOADS: [(&str, &str); 13] = [
    ("oltp_common", include_str!("../../lua/oltp_common.lua")),
    ("oltp_transaction", include_str!("../../lua/oltp_transaction.lua")),
    ("oltp_read_only", include_str!("../../lua/oltp_read_only.lua")),
    ("oltp_read_write", include_str!("../../lua/oltp_read_write.lua")),
    ("oltp_write_only", include_str!("../../lua/oltp_write_only.lua")),
    ("oltp_point_select", include_str!("../../lua/oltp_point_select.lua")),
    ("oltp_insert", include_str!("../../lua/oltp_insert.lua")),
    ("oltp_delete", include_str!("../../lua/oltp_delete.lua")),
    ("oltp_update_index", include_str!("../../lua/oltp_update_index.lua")),
    (
        "oltp_update_non_index",
        include_str!("../../lua/oltp_update_non_index.lua"),
    ),
    (
        "select_random_points",
        include_str!("../../lua/select_random_points.lua"),
    ),
    (
        "select_random_ranges",
        include_str!("../../lua/select_random_ranges.lua"),
    ),
    ("bulk_insert", include_str!("../../lua/bulk_insert.lua")),
];

/// The text of a workload's module.
pub fn named(name: &[u8]) -> Option<&'static str> {
    let found = WORKLOADS.iter().find(|(known, _)| known.as_bytes() == name);
    found.map(|(_, text)| *text)
}
