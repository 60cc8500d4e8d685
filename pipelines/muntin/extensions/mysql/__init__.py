"""Tables of MySQL and MariaDB as a sink."""
