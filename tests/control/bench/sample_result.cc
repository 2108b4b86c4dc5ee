#include "tests/control/bench/sample_result.h"

namespace railyard::bench {

Result sample_result() {
  Result r;
  r.version = "1.2.3";
  ClauseResult& c = r.clauses.emplace_back();
  c.clause = clauses({"T9.3"}).front();
  c.plan.clause = c.clause;
  c.plan.seeds = {1, 2, 3};
  Case& x = c.plan.cases.emplace_back();
  x.params = {{"path", "ECMP"}, {"S", "8MiB"}};
  x.fabric.topology_class = "A";
  x.fabric.b_acc_bps = 100'000'000'000;
  x.transport.transport = "RoCEv2 RC";
  std::vector<Trial> trials;
  for (const double time : {1000.0, 1200.0}) {
    Trial& t = trials.emplace_back();
    t.report = {{"run", {{"lab_digest", "abc"}}},
                {"summary", {{"xoff_sent", 0}}},
                {"load_interval", {{"from_ns", 0}, {"to_ns", 1000}}},
                {"collectives",
                 {{{"collective", "all-gather"},
                   {"ranks", {"h1", "h2"}},
                   {"bytes", 10000},
                   {"busbw_factor", 0.5},
                   {"algorithm", "ring"},
                   {"channels", 1},
                   {"chunk", 512},
                   {"fabric_bytes", 5000},
                   {"job", nullptr},
                   {"ecn_marked", 0},
                   {"packets", 10},
                   {"iterations", {{{"start_ns", 0}, {"time_ns", time}}}}}}}};
  }
  CaseResult& done = c.cases.emplace_back(case_result(c.plan, 0, trials));
  done.attempted = 3;
  done.excluded = {{3, "the run did not end"}};
  compare_cases(c);
  ClauseResult& not_run = r.clauses.emplace_back();
  not_run.clause = clauses({"T10.2"}).front();
  not_run.not_run = "not applicable: no accelerators";
  return r;
}

}  // namespace railyard::bench
