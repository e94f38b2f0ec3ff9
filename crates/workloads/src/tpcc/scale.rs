//! How many rows there are, by clause 1.2.1 and 4.3.3.1.

/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;

/// Customers of a district, and its orders once it is loaded.
pub const CUSTOMERS: u32 = 3_000;

/// Items, and the stocks of a warehouse.
pub const ITEMS: u32 = 100_000;

/// The first order of a district that is not delivered.
pub const FIRST_NEW_ORDER: u32 = 2_101;

/// Orders of a district that are not delivered.
pub const NEW_ORDERS: u32 = CUSTOMERS + 1 - FIRST_NEW_ORDER;

/// Fewest and most lines of an order.
pub const ORDER_LINES: (u32, u32) = (5, 15);
