#include "control/daemon/happenings.h"

#include <chrono>
#include <utility>

namespace railyard::daemon {

nlohmann::json Happening::json() const {
  return {{"number", number},
          {"unix_seconds", unix_seconds},
          {"modelled_seconds", modelled_seconds},
          {"kind", kind},
          {"element", element},
          {"text", text}};
}

void Happenings::add(Happening happening) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  happening.unix_seconds = std::chrono::duration<double>(now).count();
  add_seen(std::move(happening));
}

void Happenings::add_seen(Happening happening) {
  const std::scoped_lock lock(mutex_);
  happening.number = ++last_;
  all_.push_back(std::move(happening));
  if (all_.size() > kMost) all_.pop_front();
}

std::vector<Happening> Happenings::after(std::uint64_t seen) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Happening> out;
  for (const Happening& h : all_)
    if (h.number > seen) out.push_back(h);
  return out;
}

}  // namespace railyard::daemon
