"""Windows by arrival: from rows in order of arrival to ranges."""
