"""English: phrases, evidence and advice. Whoever shows a value says it by these."""
