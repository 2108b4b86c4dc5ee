#include "control/build/uet_echo.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/build/uet_nics.h"
#include "control/spec/link_ends.h"
#include "dataplane/nic/split_endpoint.h"
#include "dataplane/nic/traffic_generator.h"
#include "dataplane/port/uet_processes.h"
#include "transports/uet/services/echo_endpoint.h"

namespace railyard::build {
namespace {

// Of TxFrame::flow: beyond those of the generator and of RoCE.
constexpr std::uint32_t kFirstEchoFlow = (1u << 31) + 1024;

bool is_applications(const spec::NodeSpec& node) {
  return std::ranges::any_of(node.nics, [](const spec::NicSpec& nic) {
    return std::holds_alternative<spec::AttachApplication>(nic.attach);
  });
}

}  // namespace

bool has_applications(const spec::Lab& lab) { return std::ranges::any_of(lab.nodes, is_applications); }

std::unique_ptr<Endpoint> with_uet_echo(const spec::Lab& lab, const spec::PortName& nic, const spec::LinkSpec& link,
                                        std::unique_ptr<Endpoint> rest) {
  // It may send to any of them.
  BitRate rate = link.rate;
  auto mtu = static_cast<std::uint32_t>(link.mtu);
  for (const auto& [name, end] : spec::link_ends(lab))
    if (const spec::NodeSpec* const node = lab.find(name.node); node != nullptr && is_applications(*node)) {
      rate = std::min(rate, end.link->rate);
      mtu = std::min(mtu, static_cast<std::uint32_t>(end.link->mtu));
    }
  const libfabric::NicSettings settings =
      UetNics::application_settings(lab, nic, rate, framing_of_frames(lab, nic, link.framing), mtu);
  const spec::UetNicSpec& s = lab.hosts.at(lab.find(nic.node)->profile).uet;
  auto echo = std::make_unique<uet::EchoEndpoint>(
      uet::EngineConfig{settings.engine, {}}, settings.encapsulation,
      RngStream(lab.run.seed, fmt::format("uet-echo/{}:{}", nic.node, nic.port)), static_cast<std::uint32_t>(s.job_id),
      UetNumbers::kPids);
  const auto* const generator = dynamic_cast<const TrafficGenerator*>(rest.get());
  if (generator != nullptr && !generator->has_flows()) return echo;
  const SplitEndpoint::Uet uet{s.udp, static_cast<std::uint16_t>(s.udp_port), static_cast<std::uint8_t>(s.ip_protocol)};
  return std::make_unique<SplitEndpoint>(std::move(rest), std::move(echo), uet, kFirstEchoFlow);
}

}  // namespace railyard::build
