"""The store against real Delta tables: verbs, crash points, races, full disks, other people's folders."""
