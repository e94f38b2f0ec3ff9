//! What known kits do otherwise than the specification asks, each by a name of its own. Transactions look at these deviations,
//! never at the kit.
//!
//! Deliberately not here: the rows that kits load, and what is no part of the load (see `docs/tpcc.md`).

use plimsoll_core::plan::TpccKit;

/// What is done otherwise; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a deviation of its own
pub struct Deviations {
    /// Warehouses, and the districts of Stock-Level, are drawn for each transaction.
    pub draws_homes: bool,
    pub remote: Remote,
    pub constants: Constants,
    /// Orders have six lines at least.
    pub has_six_lines: bool,
    /// The item that is not there is in the line before the last.
    pub refuses_line_before_last: bool,
    /// Items and stocks are read, and lines inserted, one by one and in the order in which they were drawn.
    pub goes_line_by_line: bool,
    /// The stock of the home warehouse is taken, whichever supplies.
    pub takes_stock_at_home: bool,
    /// Stocks keep no counters.
    pub leaves_stock_counters: bool,
    /// A stock is filled up only when nothing would be left of it.
    pub fills_up_late: bool,
    /// Amounts of lines are with tax and discount.
    pub taxes_lines: bool,
    pub line_amounts: Cents,
    pub payments: Payments,
    pub paid: Paid,
    /// `c_payment_cnt` is left as it is.
    pub leaves_payment_count: bool,
    /// Of several customers with one name the first is taken.
    pub takes_first_customer: bool,
    /// Order-Status looks at the lines of the order whose number is that of the district.
    pub shows_order_of_district_number: bool,
    pub oldest: Oldest,
    /// Delivery adds amounts times quantities, in whole numbers.
    pub multiplies_deliveries: bool,
    pub low_stocks: LowStocks,
}

/// Which warehouse supplies what, or is paid to, does not come from the home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remote {
    /// Any other.
    #[default]
    Other,
    /// The home, and nothing says otherwise.
    Never,
    /// The home, though `o_all_local` says otherwise, and the customer's district is drawn.
    OnlySaid,
}

/// The constants of numbers that are not uniform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// For the whole run, by clause 2.1.6.
    #[default]
    OfRun,
    /// Drawn anew for each number, which makes them nearly uniform.
    OfEachNumber,
    /// There are none.
    Zero,
    /// That of items is drawn as if for customers, that of customers as if for items, with 8190 for 8191, and that of last names
    /// is the one of loading.
    Exchanged,
}

/// What becomes of the cents of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cents {
    #[default]
    Kept,
    CutOff,
    Rounded,
}

/// How much customers pay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payments {
    /// 1.00 to 5000.00.
    #[default]
    InCents,
    /// 1 to 5000.
    Whole,
    /// 1.01 to 5001.00, rounded.
    Rounded,
}

/// What a payment adds to `c_ytd_payment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paid {
    #[default]
    Amount,
    One,
    Nothing,
}

/// How Delivery finds the oldest order of a district.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oldest {
    #[default]
    Locked,
    /// Without a lock, so that two deliveries can take the same one.
    Read,
    /// The same, as `MIN()`.
    Least,
}

/// How Stock-Level counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LowStocks {
    /// Items, in one statement.
    #[default]
    Items,
    /// Lines: an item in two orders counts twice.
    Lines,
    /// Items, in one statement each.
    EachItem,
}

impl Deviations {
    /// Of a kit, or none.
    pub fn of(kit: Option<TpccKit>) -> Self {
        match kit {
            None => Self::default(),
            Some(TpccKit::Dbt2) => Self::dbt2(),
            Some(TpccKit::SysbenchTpcc) => Self::sysbench_tpcc(),
            Some(TpccKit::TpccMysql) => Self::tpcc_mysql(),
            Some(TpccKit::GoTpc) => Self::go_tpc(),
        }
    }

    fn dbt2() -> Self {
        Self {
            draws_homes: true,
            remote: Remote::Never,
            constants: Constants::Zero,
            has_six_lines: true,
            goes_line_by_line: true,
            leaves_stock_counters: true,
            line_amounts: Cents::Rounded,
            payments: Payments::Rounded,
            paid: Paid::One,
            leaves_payment_count: true,
            takes_first_customer: true,
            oldest: Oldest::Read,
            multiplies_deliveries: true,
            low_stocks: LowStocks::Lines,
            ..Self::default()
        }
    }

    fn sysbench_tpcc() -> Self {
        Self {
            draws_homes: true,
            remote: Remote::OnlySaid,
            constants: Constants::OfEachNumber,
            refuses_line_before_last: true,
            goes_line_by_line: true,
            leaves_stock_counters: true,
            fills_up_late: true,
            taxes_lines: true,
            line_amounts: Cents::CutOff,
            leaves_payment_count: true,
            shows_order_of_district_number: true,
            ..Self::default()
        }
    }

    fn tpcc_mysql() -> Self {
        Self {
            draws_homes: true,
            goes_line_by_line: true,
            leaves_stock_counters: true,
            payments: Payments::Whole,
            paid: Paid::Nothing,
            leaves_payment_count: true,
            oldest: Oldest::Least,
            low_stocks: LowStocks::EachItem,
            ..Self::default()
        }
    }

    fn go_tpc() -> Self {
        Self {
            draws_homes: true,
            constants: Constants::Exchanged,
            takes_stock_at_home: true,
            taxes_lines: true,
            ..Self::default()
        }
    }
}
