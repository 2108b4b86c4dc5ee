#include <algorithm>

#include "control/bench/kpi.h"

namespace railyard::bench {

const std::vector<KpiFunction>& kpi_functions() {
  static const std::vector<KpiFunction> all{
      {"searched", "the value that the search of the clause found", false, false, false},
      {"pooled", "a percentile of a distribution of the report, of the samples of all trials together", true, true,
       false},
      {"iteration-time", "time of an iteration of the collective or job; the first one warms up", false, true, false},
      {"busbw", "size x factor of the collective / iteration time; percentiles are those of the time", false, true,
       false},
      {"busbw-efficiency", "busbw / rate of one accelerator's NICs", false, true, false},
      {"jct-ratio", "mean iteration / (computing + size x factor / rate of one accelerator's NICs)", false, false,
       false},
      {"ecn-ratio", "packets received with CE / packets sent, of all flows and collectives", false, false, false},
      {"per-second", "a figure of the report / the load interval", true, false, false},
      {"class-counter", "a counter of classes in the report, of all ports together", true, false, false},
      {"first-byte", "a flow's start to the arrival of its first packet, with the handshake of a QP; of all flows", false, true,
       false},
      {"setup-rate", "flows whose first packet arrived / first start to the last of these arrivals", false, false, false},
      {"shared-links", "directions of links between switches that carried two classes / those that carried the first one", true,
       false, false},
      {"loss-duration", "first to last packet lost after a failure", false, false, false},
      {"loss-by-rate", "packets lost / rate of packets while iterations before the failure communicate", false, false, false},
      {"packets-lost", "packets lost while routing reacts to a failure", false, false, false},
      {"route-convergence", "a failure to the last change of a forwarding table", false, false, false},
      {"failure-overhead", "the longest iteration during a failure - the mean of those before it", false, false, false},
      {"failure-phase", "where in its iteration a failure falls: time since its start / the mean of those before it", false, false,
       false},
      {"recovery-time", "a failure to the end of the last iteration more than 10 % above the new mean, which is that of the second "
       "half of those after it", false, false, false},
      {"zero-impact", "1 if that iteration is within the P99 of those before it, else 0; a mean of trials", false,
       false, false},
      {"memory", "resident memory of the run's process at a share of its wall time", false, true, false},
      {"memory-slope", "growth of that memory per hour of wall time, by least squares over the second half of the run", false, false,
       false},
      {"memory-margin", "half of the 95 % confidence interval of the slope", false, false, false},
      {"open-files", "open files of that process at the end - at the start", false, false, false},
      {"ratio", "another KPI / the same KPI in the case that has the other value of a parameter", true, false, true},
      {"deviation", "another KPI / the size that a parameter sets - 1", true, false, true},
      {"largest", "the largest value of a parameter at which another KPI is at least a number", true, false, true},
  };
  return all;
}

const KpiFunction* find_function(std::string_view name) noexcept {
  const auto at =
      std::ranges::find(kpi_functions(), name, [](const KpiFunction& f) { return std::string_view(f.name); });
  return at == kpi_functions().end() ? nullptr : &*at;
}

}  // namespace railyard::bench
