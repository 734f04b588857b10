"""The learners: one package for each, and what they have in common."""
