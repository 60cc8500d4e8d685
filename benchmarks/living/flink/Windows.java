import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/**
 * Days and sessions of each key with allowed lateness, from files that come into a folder: FEED OUT SAVEPOINTS [SAVEPOINT].
 *
 * <p>Reads lines: a number of rows, and says "done" when so many were read; "stop" ends it with a savepoint, whose path it says.
 * Flink counts milliseconds; here a millisecond of Flink stands for a microsecond.
 */
public class Windows {
    static final long GAP = 1_800_000_000L;
    static final long DAY = 86_400_000_000L;
    static final AtomicLong READ = new AtomicLong();
    static final AtomicLong NUMBER = new AtomicLong(System.currentTimeMillis() * 1_000_000);
    static final TypeInformation<long[]> LONGS = PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO;
    static final TypeInformation<Row> WINDOW =
        Types.ROW_NAMED(
            new String[] {"k", "start_us", "end_us", "n", "x", "number"},
            Types.LONG, Types.LONG, Types.LONG, Types.LONG, Types.LONG, Types.LONG);

    static class Counted implements FilterFunction<Row> {
        @Override
        public boolean filter(Row row) {
            READ.incrementAndGet();
            return true;
        }
    }

    /** Time goes on with the rows of the key that says what time it is: before a savepoint, however soon it is asked for. */
    static class Clock implements WatermarkGenerator<Row> {
        @Override
        public void onEvent(Row row, long time, WatermarkOutput out) {
            if ((Long) row.getField(1) == -1) {
                out.emitWatermark(new Watermark(time - 1));
            }
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput out) {}
    }

    static class Figures implements AggregateFunction<Row, long[], long[]> {
        @Override
        public long[] createAccumulator() {
            return new long[2];
        }

        @Override
        public long[] add(Row row, long[] figures) {
            return new long[] {figures[0] + 1, figures[1] + (Long) row.getField(2)};
        }

        @Override
        public long[] getResult(long[] figures) {
            return figures;
        }

        @Override
        public long[] merge(long[] one, long[] other) {
            return new long[] {one[0] + other[0], one[1] + other[1]};
        }
    }

    /** A window each time it fires: again for each late row. The last of a key and start counts. */
    static class Fired extends ProcessWindowFunction<long[], Row, Long, TimeWindow> {
        @Override
        public void process(Long key, Context context, Iterable<long[]> figures, Collector<Row> out) {
            TimeWindow window = context.window();
            for (long[] found : figures) {
                out.collect(Row.of(key, window.getStart(), window.getEnd(), found[0], found[1], NUMBER.incrementAndGet()));
            }
        }
    }

    static void insert(
            StreamStatementSet all, StreamTableEnvironment tables, KeyedStream<Row, Long> rows, String name, String out,
            WindowAssigner<Object, TimeWindow> windows) {
        DataStream<Row> found =
            rows.window(windows)
                .allowedLateness(Duration.ofMillis(8 * DAY))
                .aggregate(new Figures(), new Fired(), LONGS, LONGS, WINDOW)
                .uid(name);
        tables.createTemporaryView(name + "_windows", found);
        tables.executeSql(
            "CREATE TEMPORARY TABLE `" + name + "` (k BIGINT, start_us BIGINT, end_us BIGINT, n BIGINT, x BIGINT, `number` BIGINT)"
                + " WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '" + out + "/" + name + "')");
        all.addInsertSql("INSERT INTO `" + name + "` SELECT * FROM " + name + "_windows");
    }

    public static void main(String[] asked) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("parallelism.default", "1");
        configuration.setString("taskmanager.numberOfTaskSlots", "1");
        configuration.setString("taskmanager.memory.network.max", "64m");
        configuration.setString("taskmanager.memory.network.min", "64m");
        configuration.setString("taskmanager.memory.managed.size", "256m");
        configuration.setString("table.exec.uid.generation", "ALWAYS");
        configuration.setString("execution.checkpointing.storage", "filesystem");
        configuration.setString("execution.checkpointing.dir", asked[2]);
        if (asked.length > 3) {
            configuration.setString("execution.state-recovery.path", asked[3]);
        }
        StreamExecutionEnvironment flink = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        StreamTableEnvironment tables = StreamTableEnvironment.create(flink);
        tables.executeSql(
            "CREATE TEMPORARY TABLE events (`at` BIGINT, k BIGINT, x BIGINT) WITH ('connector' = 'filesystem', 'format' = 'parquet',"
                + " 'path' = '" + asked[0] + "', 'source.monitor-interval' = '100 ms')");
        KeyedStream<Row, Long> rows =
            tables.toDataStream(tables.sqlQuery("SELECT `at`, k, x FROM events"))
                .filter(new Counted())
                .uid("counted")
                .assignTimestampsAndWatermarks(
                    WatermarkStrategy.<Row>forGenerator(context -> new Clock())
                        .withTimestampAssigner((row, before) -> (Long) row.getField(0)))
                .uid("times")
                .keyBy(row -> (Long) row.getField(1), Types.LONG);
        StreamStatementSet all = tables.createStatementSet();
        insert(all, tables, rows, "day", asked[1], (WindowAssigner) TumblingEventTimeWindows.of(Duration.ofMillis(DAY)));
        insert(all, tables, rows, "visit", asked[1], (WindowAssigner) EventTimeSessionWindows.withGap(Duration.ofMillis(GAP)));
        all.attachAsDataStream();
        JobClient job = flink.executeAsync();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); !line.equals("stop"); line = lines.readLine()) {
            while (READ.get() < Long.parseLong(line)) {
                if (job.getJobStatus().get().isGloballyTerminalState()) {
                    job.getJobExecutionResult().get();
                }
                Thread.sleep(20);
            }
            System.out.println("done");
        }
        System.out.println(job.stopWithSavepoint(false, asked[2], SavepointFormatType.NATIVE).get());
        lines.readLine(); // alive until it was measured
        System.exit(0);
    }
}
