#include "dataplane/switch/path/sampled_load.h"

namespace railyard {

void SampledLoad::sample(Instant now, std::span<const PortLoad> loads, std::span<const std::uint64_t> left) {
  const std::int64_t last = (now - Instant{}).ps / sampling_.every.ps;  // the sample, counted from the run's beginning
  const std::int64_t samples = begun_ ? last - (due_ - Instant{}).ps / sampling_.every.ps + 1 : 0;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    const auto waits = static_cast<std::int64_t>(std::uint64_t{loads[p].cells} << kFraction);
    auto average = static_cast<std::int64_t>(port.average);
    std::int64_t sample = waits + static_cast<std::int64_t>((left[p] - port.left) << kFraction);
    if (!begun_) average = waits;
    // With the same sample again and again it comes to rest.
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::int64_t step = (sample - average) >> sampling_.shift;
      average += step;
      if (step == 0 && sample == waits) break;
      sample = waits;
    }
    port.average = static_cast<std::uint64_t>(average);
    port.left = left[p];
  }
  begun_ = true;
  due_ = Instant{} + sampling_.every * (last + 1);
}

}  // namespace railyard
