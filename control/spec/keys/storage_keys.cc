// The keys of what a job stores, and of its failures.
#include "control/jobs/storage.h"
#include "control/spec/keys/keys.h"

namespace railyard::spec {

const Table<jobs::Failure>& job_failure_keys() {
  static const Table<jobs::Failure> table{
      "job-failure",
      "A step in which a rank fails",
      {key("step", &jobs::Failure::step, integer(1, 1'000'000),
           "the step, from 1, as they are carried out: it counts for nothing, nor do those after the last checkpoint").require(),
       key("restart", &jobs::Failure::restart, duration({}, kAnyTime), "time until the ranks go on: to find out, and to start again"),
       key("elastic", &jobs::Failure::elastic,
           choice<jobs::Elastic>({{"off", jobs::Elastic::kOff}, {"smaller-batch", jobs::Elastic::kSmallerBatch},
                                  {"same-batch", jobs::Elastic::kSameBatch}}),
           "leave out the data-parallel copy that lost a rank. smaller-batch: the others keep their microbatches, as with torchrun; "
           "same-batch: they share out those of the copy, as with DeepSpeed. off: the rank is replaced"),
       key("rank", &jobs::Failure::rank, integer(0, 1 << 20), "elastic: the rank that fails, from 0"),
       key("returns", &jobs::Failure::returns, integer(0, 1'000'000),
           "elastic: the step, counted as step is, from which the copy takes part again: the job starts again (restart) and goes on "
           "from the last checkpoint. 0: never")}};
  return table;
}

const Table<jobs::Storage>& checkpoint_keys() {
  static const Table<jobs::Storage> table{
      "checkpoint",
      "Checkpoints of a job",
      {key("every", &jobs::Storage::every, integer(0, 1'000'000), "steps from one to the next. 0: none is written"),
       key("restore", &jobs::Storage::restore, boolean(), "the first step begins with reading one"),
       key("parameter-bytes", &jobs::Storage::parameter_octets, integer(1, 64),
           "bytes of a parameter in it. 14: mixed precision with Adam; ranks with the same parameters write equal parts")}};
  return table;
}

}  // namespace railyard::spec
