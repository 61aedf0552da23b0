package io.takofs.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Options.HandleOpt;
import org.apache.hadoop.fs.contract.AbstractContractPathHandleTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

public class PathHandleContractTest extends AbstractContractPathHandleTest {
  public PathHandleContractTest(String name, HandleOpt[] options, boolean serialized) {
    super(name, options, serialized);
  }

  @Override
  protected AbstractFSContract createContract(Configuration conf) {
    return new TakoContract(conf);
  }
}
