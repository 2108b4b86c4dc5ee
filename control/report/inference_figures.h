// How requests fared that an inference job served: from when its ranks did what. Of runs and of estimates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/build/collective.h"
#include "control/jobs/compile.h"
#include "control/report/percentiles.h"
#include "control/spec/spec.h"
#include "transports/collectives/step_record.h"

namespace railyard::report {

struct InferenceFigures {
  // A request that has its last token; all in ns, `arrival_ns` since the start of the job.
  struct Request {
    std::size_t number = 0;
    int prompt = 0, output = 0;    // tokens
    int prefill = 0, decode = 0;   // replicas
    std::uint64_t kv_bytes = 0;    // to all its decode ranks together
    double arrival_ns = 0;
    double queue_ns = 0;       // from its arrival until its prefill begins
    double prefill_ns = 0;     // until its last layers are computed, all-reduces included
    double kv_ns = 0;          // from the first octet of its KV cache that is sent until all of it is there
    double kv_exposed_ns = 0;  // what of that is after its prefill
    double ttft_ns = 0;        // time to first token: from its arrival until its first iteration ends
    std::optional<double> tpot_ns{};  // time per output token: of those after the first one. Nothing: it has one
    double latency_ns = 0;     // from its arrival to its last token
  };

  std::string parallelism;  // "prefill 2 x tp 4, decode 1 x tp 8"
  std::size_t asked = 0;    // requests
  std::vector<Request> requests;  // that are complete, in the order of their arrival
  double duration_ns = 0;         // from the first arrival to the last token
  std::optional<double> requests_per_second;
  std::optional<double> tokens_per_second;  // of output
  // Time that each rank computed: in a decode replica any of its requests.
  std::vector<Duration> busy;

  // Of all complete requests that have it.
  Spread spread(double Request::*of) const;
  Spread tpot() const;
};

// When a step of a rank began and ended.
using StepLookup = std::function<StepTimes(std::uint32_t rank, std::uint32_t step)>;

// `nics`: of its ranks. Nothing: it is no inference job.
std::optional<InferenceFigures> inference_figures(const spec::Lab& lab, const spec::CollectiveSpec& job,
                                                  const std::vector<spec::PortName>& nics, const StepLookup& times);
// Of a run. Nothing: the steps of its ranks are not recorded.
std::optional<InferenceFigures> inference_figures(const spec::Lab& lab, const build::Collective& collective);

// Those that reports show.
struct NamedSpread {
  std::string_view name;    // "ttft"
  std::string_view called;  // for people
  std::string_view help;
  Spread ns;
};
std::vector<NamedSpread> spreads(const InferenceFigures& figures);

// Lines for people, each beginning with the name of the job.
std::string inference_text(const std::string& name, const InferenceFigures& figures);

struct Report;
// One row a complete request of all jobs, the first line names the columns (RFC 4180).
std::string request_csv(const Report& report);

}  // namespace railyard::report
