"""Windows that Kafka Streams, Hazelcast Jet and Apache Flink computed; see `cases/README.md`."""
