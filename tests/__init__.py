"""The tests of jaxgames, and what they share."""
