#include "control/build/derived_settings.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/spec/warm_up.h"
#include "transports/roce/congestion/dcqcn.h"

namespace railyard::build {
namespace {

// "3.14992us": exact, with a fraction if need be.
std::string time_text(Duration value) {
  std::string text = fmt::format("{}.{:06}", value.ps / 1'000'000, value.ps % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "us";
}

class Derived {
 public:
  explicit Derived(const BuiltLab& lab) : lab_(lab) {}

  std::vector<DerivedSetting> all() {
    for (const UetNics::Named& nic : lab_.uet_nics()) of_uet(nic);
    for (const auto& [profile, host] : lab_.spec().hosts) of_cnps(profile, host);
    for (const spec::TrafficSpec& t : lab_.spec().traffic) of_traffic(t);
    for (const Collective& c : lab_.collectives()) of_collective(c);
    if (!lab_.spec().run.budgets.warm_up) add("run.budgets.warm-up", time_text(spec::warm_up_of(lab_.spec().run)));
    return std::move(all_);
  }

 private:
  void add(const std::string& path, std::string value) {
    auto at = std::ranges::find(all_, path, &DerivedSetting::path);
    if (at == all_.end()) at = all_.insert(at, {path, {}});
    if (std::ranges::find(at->values, value) == at->values.end()) at->values.push_back(std::move(value));
  }

  void of_uet(const UetNics::Named& nic) {
    const std::string& profile = lab_.spec().find(nic.name.node)->profile;
    const spec::UetNicSpec& said = lab_.spec().hosts.at(profile).uet;
    const std::string path = fmt::format("hosts.{}.uet.", profile);
    const uet::EngineConfig& engine = nic.endpoint->engine().config();
    if (!said.control_priority) add(path + "control-class", fmt::format("{}", int{engine.control.value}));
    if (engine.credit && !said.rccc.base_rtt) add(path + "rccc.base-rtt", time_text(engine.credit->base_rtt));
    const auto* const nscc = std::get_if<uet::NsccConfig>(&engine.congestion);
    if (nscc == nullptr) return;
    if (!said.nscc.base_rtt) add(path + "nscc.base-rtt", time_text(nscc->base_rtt));
    if (!said.nscc.target) add(path + "nscc.target", time_text(nscc->target));
    if (!said.nscc.max_window) add(path + "nscc.max-window", fmt::format("{:g}", nscc->max_wnd_bdps));
    if (!said.nscc.initial_window) add(path + "nscc.initial-window", fmt::format("{:g}", nscc->first_wnd_bdps));
    if (!said.nscc.adjust_period) add(path + "nscc.adjust-period", time_text(nscc->adjust_period));
  }

  int class_at(const std::string& profile, int dscp) const {
    return lab_.spec().qos.at(lab_.spec().hosts.at(profile).qos).dscp_to_class[static_cast<std::size_t>(dscp)];
  }

  void of_cnps(const std::string& profile, const spec::HostProfile& host) {
    if (host.roce.is_controlled_by<roce::Dcqcn>() && !host.roce.cnp.priority)
      add(fmt::format("hosts.{}.roce.cnp.class", profile), fmt::format("{}", class_at(profile, host.roce.cnp.dscp)));
  }

  void of_collective(const Collective& c) {
    const spec::CollectiveSpec& said = lab_.spec().collectives[c.spec];
    if (said.priority) return;
    for (const spec::PortName& nic : c.nics)
      add(said.path() + ".class",
          fmt::format("{}", class_at(lab_.spec().find(nic.node)->profile, said.dscp)));
  }

  void of_traffic(const spec::TrafficSpec& t) {
    const std::string path = fmt::format("traffic.{}.", t.name);
    const bool receives = t.has_messages() && t.roce.operation == spec::RoceOperation::kSend;
    if (receives && !t.roce.receives) add(path + "receives", fmt::format("{}", t.roce.outstanding));
    for (const Flow& f : lab_.flows()) {
      if (&lab_.spec().traffic[f.plan.traffic] != &t) continue;
      if (!t.priority) add(path + "class", fmt::format("{}", int{f.priority.value}));
      if (t.has_messages() || f.rate.bps == 0 || t.gap_jitter_ppm) continue;
      const bool exact = lab_.spec().hosts.at(lab_.spec().find(f.plan.source.node)->profile).clock_error_ppb == 0;
      add(path + "gap-jitter", exact ? "0%" : "100%");
    }
  }

  const BuiltLab& lab_;
  std::vector<DerivedSetting> all_;
};

}  // namespace

std::vector<DerivedSetting> derived_settings(const BuiltLab& lab) { return Derived(lab).all(); }

}  // namespace railyard::build
