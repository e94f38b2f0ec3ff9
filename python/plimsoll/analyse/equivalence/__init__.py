"""Whether systems that are compared are alike in everything that is no factor: variables, data, plans, durability."""
