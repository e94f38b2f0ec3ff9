"""Answers to what users ask: advice, sizing, comparisons, costs, capacities, and how well each is known."""
