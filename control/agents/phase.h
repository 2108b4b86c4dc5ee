// How far a flow or a collective with agents is.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace railyard::agents {

enum class Phase { kWaiting, kPreparing, kConnecting, kReady, kRunning, kDone, kFailed };

// As reports say it.
constexpr std::string_view name(Phase phase) noexcept {
  constexpr std::array<std::string_view, 7> kNames{"waiting", "preparing", "connecting", "ready",
                                                   "running", "done",      "failed"};
  return kNames[static_cast<std::size_t>(phase)];
}
// For people, where no more is known: whom it waits for, and why it failed.
constexpr std::string_view sentence(Phase phase) noexcept {
  constexpr std::array<std::string_view, 7> kSentences{
      "waiting for its agents", "its agents are preparing", "connecting QPs", "ready", "running", "done", "failed"};
  return kSentences[static_cast<std::size_t>(phase)];
}

}  // namespace railyard::agents
