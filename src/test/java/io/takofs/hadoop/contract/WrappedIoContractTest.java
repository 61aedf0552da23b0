package io.takofs.hadoop.contract;

import io.takofs.hadoop.contract.TakoContract;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.io.wrappedio.impl.TestWrappedIO;

public class WrappedIoContractTest extends TestWrappedIO {
  @Override
  protected AbstractFSContract createContract(Configuration conf) {
    return new TakoContract(conf);
  }
}
