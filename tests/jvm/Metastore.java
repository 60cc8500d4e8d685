import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** The metastore of Hive, whose tables of locks are made first. Arguments: as the metastore's own. */
public final class Metastore {
  public static void main(String[] args) throws Throwable {
    TxnDbUtil.prepDb(new HiveConf());
    HiveMetaStore.main(args);
  }
}
