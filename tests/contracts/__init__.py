"""What the product leans on without a contract: `tests/contracts/private-names.md` has a row for each, and each row a test here."""
