import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** Runs the statements of SQL that it reads, each a line, in this process, and says "done" behind each. */
public class Statements {
    public static void main(String[] settings) throws Exception {
        Configuration configuration = new Configuration();
        for (String setting : settings) {
            configuration.setString(setting.split("=", 2)[0], setting.split("=", 2)[1]);
        }
        TableEnvironment flink =
            TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().withConfiguration(configuration).build());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            flink.executeSql(line).await();
            System.out.println("done");
        }
    }
}
