package io.takofs.hadoop.committer;

import io.takofs.hadoop.contract.TakoContract;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.mapreduce.lib.output.committer.manifest.TestLoadManifestsStage;

public class LoadManifestsStageTest extends TestLoadManifestsStage {
  @Override
  protected AbstractFSContract createContract(Configuration conf) {
    return new TakoContract(conf);
  }
}
