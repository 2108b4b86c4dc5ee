#include "dataplane/device/drop_counts.h"

#include <numeric>

#include "dataplane/base/state_archive.h"

namespace railyard {

const DropCounts::All& DropCounts::nothing() noexcept {
  static constexpr All kNothing{};
  return kNothing;
}

std::uint64_t DropCounts::total() const noexcept {
  return kept_ ? std::accumulate(kept_->begin(), kept_->end(), std::uint64_t{0}) : 0;
}

void DropCounts::exchange(StateArchive& archive) {
  bool any = kept_ != nullptr;
  archive(any);
  if (!any) return kept_.reset();
  of(0);
  archive(*kept_);
}

}  // namespace railyard
