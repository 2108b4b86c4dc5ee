// QP 1 of a NIC that an application has opened.
#include "transports/verbs/management.h"

#include <optional>

#include "transports/roce/cm/gsi.h"
#include "transports/verbs/objects.h"

namespace railyard::verbs {
namespace {

class NicManagement final : public Management, public NicCompanion, private roce::cm::MadUser {
 public:
  explicit NicManagement(State& state) : state_(state) {}

  const application::NicGrant& nic() const noexcept override { return state_.nic->grant(); }
  std::uint8_t default_traffic_class() const noexcept override { return state_.nic->settings().default_traffic_class; }
  bool link_up() const noexcept override { return state_.nic->link_up(); }
  Instant now() const noexcept override { return Nic::now(); }
  std::mutex& mutex() noexcept override { return state_.nic->mutex(); }

  void start(ManagementUser& user) override {
    state_.nic->start_thread();
    user_ = &user;
    if (gsi_) return;
    gsi_.emplace(Nic::now(), state_.nic->engine(), static_cast<MadUser&>(*this));
    // Its two queues have numbers among those of the application's.
    state_.cqs.insert(state_.cqs.end(), 2, &not_the_applications_);
    state_.nic->accompany(this);
  }
  void stop() noexcept override { user_ = nullptr; }
  void run() noexcept override {
    const Instant now = Nic::now();
    state_.nic->enter(now);
    run(now);
    state_.nic->send(now);
    state_.on_progress();
  }

  std::expected<std::uint16_t, int> claim_port(std::uint8_t space, std::uint16_t port) override {
    return state_.nic->claim_port(space, port);
  }
  void release_port(std::uint8_t space, std::uint16_t port) override { state_.nic->release_port(space, port); }

  bool run(Instant now) noexcept override {
    const bool due = deadline() <= now;
    if (due) user_->on_timer(now);
    return gsi_->run(now) || due;
  }
  Instant deadline() const noexcept override { return user_ != nullptr ? user_->deadline() : Instant::never(); }
  void on_lost() noexcept override {
    if (user_ != nullptr) user_->on_lost();
  }

 private:
  void on_mad(Instant now, const wire::IpAddress& from, const wire::IpAddress& to,
              std::span<const std::byte> mad) override {
    if (user_ != nullptr) user_->on_mad(now, from, to, mad);
  }
  std::optional<roce::cm::Outgoing> next() override {
    return user_ != nullptr ? user_->next() : std::nullopt;
  }

  State& state_;
  ManagementUser* user_ = nullptr;
  std::optional<roce::cm::Gsi> gsi_;
  CqObject not_the_applications_{};
};

}  // namespace

Management& management_of(State& state) {
  const std::lock_guard lock(state.nic->mutex());
  if (state.management == nullptr) state.management = std::make_unique<NicManagement>(state);
  return *state.management;
}

}  // namespace railyard::verbs
