"""A sink of MySQL or MariaDB."""
