// What is asked of a built lab.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "control/build/built_lab.h"
#include "control/spec/spec_error.h"

namespace railyard::build {

Device& BuiltLab::device(const std::string& node) {
  const auto found = by_name_.find(node);
  if (found == by_name_.end()) throw std::out_of_range(fmt::format("there is no node '{}'", node));
  return fabric_[found->second];
}
Switch& BuiltLab::switch_named(const std::string& node) { return dynamic_cast<Switch&>(device(node)); }
Host& BuiltLab::host(const std::string& node) { return dynamic_cast<Host&>(device(node)); }
TrunkEnd& BuiltLab::trunk(const std::string& node) { return dynamic_cast<TrunkEnd&>(device(node)); }

PortRef BuiltLab::port(const spec::PortName& name) const {
  const auto found = by_name_.find(name.node);
  if (found == by_name_.end()) throw std::out_of_range(fmt::format("there is no node '{}'", name.node));
  const std::size_t ports = link_of_[found->second.index()].size();
  if (name.port < 1 || static_cast<std::size_t>(name.port) > ports)
    throw std::out_of_range(fmt::format("{} has no port {}; expected 1..{}", name.node, name.port, ports));
  return {found->second, PortIndex{static_cast<std::uint16_t>(name.port - 1)}};
}

BitRate BuiltLab::rate(PortRef port) const noexcept {
  const std::size_t link = link_of_[port.device.index()][port.port.index()];
  return link == 0 ? BitRate{} : lab_.links[link - 1].rate;
}

Framing BuiltLab::framing(PortRef port) const noexcept {
  const std::size_t link = link_of_[port.device.index()][port.port.index()];
  return link == 0 ? Framing{} : lab_.links[link - 1].framing;
}

Duration BuiltLab::delay(PortRef port) const noexcept {
  const std::size_t link = link_of_[port.device.index()][port.port.index()];
  return link == 0 ? Duration{} : lab_.links[link - 1].delay;
}

int BuiltLab::mtu(PortRef port) const noexcept {
  const std::size_t link = link_of_[port.device.index()][port.port.index()];
  return link == 0 ? 0 : lab_.links[link - 1].mtu;
}

std::string BuiltLab::peer_name(PortRef port) const {
  const std::size_t link = link_of_[port.device.index()][port.port.index()];
  if (link == 0) return {};
  const spec::LinkSpec& l = lab_.links[link - 1];
  const spec::PortName self{node_of(port.device).name, port.port.value + 1};
  const spec::PortName& other = l.a == self ? l.b : l.a;
  return fmt::format("{}:{}", other.node, other.port);
}

void BuiltLab::open_outputs() {
  open_outputs([](const spec::PortName&, const std::string& file) { return file; });
}

void BuiltLab::open_outputs(const OutputPlace& where) {
  for (const Output& o : outputs_) {
    try {
      if (const auto place = where(o.nic, o.file)) o.pcap->write_to(*place);
    } catch (const std::runtime_error& error) {
      throw spec::SpecError(o.place, error.what());
    }
  }
}

void BuiltLab::stop_traffic(Instant at) {
  for (Flow& f : flows_) f.stop = std::min(f.stop, at);
  for (TrafficGenerator* g : generators_) g->stop_at(at);
  for (const RoceNics::Named& r : roce_) r.endpoint->stop_at(at);
  for (const UetNics::Named& u : uet_) u.endpoint->stop_at(at);
  for (const ServiceNics::Nic& nic : service_nics_) nic.endpoint->stop_at(at);
}

}  // namespace railyard::build
