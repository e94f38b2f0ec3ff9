"""The log of a made-up shop whose transactions, loops, relations and distributions are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from support.slow_logs import Ran, in_transaction

CUSTOMERS, ORDERS, PRODUCTS, NOTES = 1_000, 5_000, 500, 400
ROLLED_BACK, ZIPF = 0.1, 1.0
SHARES = {"order": 0.4, "look": 0.3, "browse": 0.2, "note": 0.1}
TABLE_WEIGHTS = (0.4, 0.3, 0.2, 0.1)

SCHEMA = f"""
CREATE TABLE `customers` (
  `id` int NOT NULL AUTO_INCREMENT, `name` varchar(40) NOT NULL, `rank` int DEFAULT NULL, PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT={CUSTOMERS + 1};
CREATE TABLE `orders` (
  `id` int NOT NULL AUTO_INCREMENT, `customer` int NOT NULL, `state` varchar(10) NOT NULL, `made` datetime NOT NULL,
  PRIMARY KEY (`id`), CONSTRAINT `who` FOREIGN KEY (`customer`) REFERENCES `customers` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT={ORDERS + 1};
CREATE TABLE `order_lines` (
  `order_id` int NOT NULL, `line` int NOT NULL, `product` int NOT NULL, `amount` int NOT NULL,
  PRIMARY KEY (`order_id`, `line`)
) ENGINE=InnoDB;
""" + "".join(
    f"CREATE TABLE `notes_{number}` (`id` int NOT NULL AUTO_INCREMENT, `seen` int NOT NULL DEFAULT 0,"
    f" PRIMARY KEY (`id`)) ENGINE=InnoDB AUTO_INCREMENT={NOTES + 1};\n"
    for number in range(1, 5)
)


@dataclass(slots=True)
class Shop:
    """Runs transactions.

    Attributes:
        random: Seeded.
        next_order: The key of the next order.
    """

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(11))
    next_order: int = ORDERS + 1
    _customers: list[int] = field(default_factory=list)

    def transactions(self, count: int) -> list[list[Ran]]:
        """So many, of each type its share."""
        makers: dict[str, Callable[[], list[Ran]]] = {
            "order": self.order,
            "look": self.look,
            "browse": self.browse,
            "note": self.note,
        }
        names = self.random.choice(list(SHARES), count, p=list(SHARES.values()))
        return [makers[name]() for name in names]

    def customer(self) -> int:
        """By Zipf; which customers are hot says nothing of their keys."""
        if not self._customers:
            weights = np.arange(1, CUSTOMERS + 1, dtype=float) ** -ZIPF
            drawn = self.random.choice(CUSTOMERS, 50_000, p=weights / weights.sum())
            self._customers = (self.random.permutation(CUSTOMERS)[drawn] + 1).tolist()
        return self._customers.pop()

    def order(self) -> list[Ran]:
        """The customer of the first statement has the order; two to five lines in one INSERT; some are rolled back."""
        customer, order, random = self.customer(), self.next_order, self.random
        self.next_order += 1
        rows = ", ".join(
            f"({order}, {line}, {random.integers(1, PRODUCTS + 1)}, {random.integers(1, 10)})"
            for line in range(1, random.integers(2, 6) + 1)
        )
        return in_transaction(
            Ran(f"SELECT name, `rank` FROM customers WHERE id = {customer}", 1),
            Ran(f"INSERT INTO orders (id, customer, state) VALUES ({order}, {customer}, 'new')"),
            Ran(f"INSERT INTO order_lines (order_id, line, product, amount) VALUES {rows}"),
            end="ROLLBACK" if random.random() < ROLLED_BACK else "COMMIT",
        )

    def look(self) -> list[Ran]:
        """A range of ten orders, then two to four rounds of the same two statements."""
        low = int(self.random.integers(1, ORDERS - 9))
        rounds = []
        for _ in range(self.random.integers(2, 5)):
            order = self.random.integers(1, ORDERS + 1)
            rounds += [
                Ran(f"SELECT state FROM orders AS o WHERE o.id = {order}", 1),
                Ran(f"SELECT SUM(amount) FROM order_lines WHERE order_id = {order}", 1),
            ]
        return in_transaction(Ran(f"SELECT COUNT(*) FROM orders WHERE id BETWEEN {low} AND {low + 9}", 1), *rounds)

    def browse(self) -> list[Ran]:
        """Two to six different customers at once, without BEGIN."""
        wanted, chosen = int(self.random.integers(2, 7)), dict[int, None]()
        while len(chosen) < wanted:
            chosen[self.customer()] = None
        ids = ", ".join(map(str, chosen))
        return [Ran(f"SELECT id, name FROM customers WHERE id IN ({ids})", 4, 900)]

    def note(self) -> list[Ran]:
        """Reads and changes one row of one of four tables."""
        table, key = self.random.choice(4, p=TABLE_WEIGHTS) + 1, self.random.integers(1, NOTES + 1)
        return in_transaction(
            Ran(f"SELECT seen FROM notes_{table} WHERE id = {key}", 1),
            Ran(f"UPDATE notes_{table} SET seen = seen + 1 WHERE id = {key}"),
        )
