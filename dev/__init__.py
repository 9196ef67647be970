"""Real search servers for the tests, without Docker."""
