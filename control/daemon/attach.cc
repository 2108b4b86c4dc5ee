// Hosts that come to a lab that is up, and leave it.
#include <algorithm>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/build/changes.h"
#include "control/daemon/attachment_kind.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/turn.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

// The NICs that `text` names: "h1", "h1:2".
std::vector<spec::PortName> nics_named(const spec::Lab& lab, const std::string& text) {
  const auto port =
      text.find(':') == text.npos ? spec::Parsed<spec::PortName>(spec::PortName{text, 0}) : spec::parse_port_name(text);
  if (!port) throw ApiError(400, fmt::format("'{}': {}", text, port.error()));
  const spec::NodeSpec* node = lab.find(port->node);
  if (node == nullptr || node->kind != spec::NodeSpec::Kind::kHost) {
    std::vector<std::string> names;
    for (const spec::NodeSpec& n : lab.nodes)
      if (n.kind == spec::NodeSpec::Kind::kHost) names.push_back(n.name);
    throw ApiError(404, fmt::format("there is no host '{}'{}", port->node, spec::did_you_mean(port->node, names)));
  }
  const int nics = static_cast<int>(node->nics.size());
  if (port->port > nics) throw ApiError(404, fmt::format("{} has {} NICs", port->node, nics));
  if (port->port > 0) return {*port};
  std::vector<spec::PortName> all;
  for (int i = 1; i <= nics; ++i) all.push_back({port->node, i});
  return all;
}

}  // namespace

json LiveLab::attach(const std::string& to, const json& said) {
  if (!made_of_) throw ApiError(503, "the lab is still starting: nothing can be attached yet");
  const spec::Lab& spec = session_.lab().spec();
  spec::Attachment attach;
  try {
    attach = spec::parse_attachment(said.is_string() ? said.get<std::string>() : json_text(said), "attach");
  } catch (const spec::SpecError& error) {
    throw ApiError(400, error.what());
  }
  const std::vector<spec::PortName> nics = nics_named(spec, to);
  const bool is_built_in = std::holds_alternative<std::monostate>(attach);
  if (nics.size() > 1 && !is_built_in && !spec::is_made_host(attach))
    throw ApiError(400, fmt::format("{} has {} NICs; expected one of them, such as {}:1", to, nics.size(), to));
  for (const spec::NodeSpec& node : spec.nodes)
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::PortName other{node.name, static_cast<int>(i) + 1};
      if (is_built_in || spec::is_made_host(attach) || std::ranges::find(nics, other) != nics.end()) continue;
      if (node.nics[i].attach == attach)
        throw ApiError(409, fmt::format("it is already attached to {}", spec::format(other)));
    }
  const spec::NodeSpec& node = *spec.find(nics[0].node);
  if (nics.size() < node.nics.size() && (spec::is_made_host(attach) || spec::is_made_host(node.nics[0].attach)))
    throw ApiError(400, fmt::format("a namespace has all NICs of its host; expected {} without a NIC", node.name));

  for (const spec::PortName& nic : nics)
    if (replays_.has(session_.lab().port(nic)))
      throw ApiError(409,
                     fmt::format("{} replays a capture file; `railyard replay --stop` stops it", spec::format(nic)));

  Settings settings = made_of_->with(nics, attach);
  const std::shared_ptr<build::Changes> changes = changes_to(settings);
  json out{{"host", to}, {"attach", kind_of(attach)}, {"changed", !changes->attachments().empty()}};
  if (changes->attachments().empty()) return out;
  const bool is_made = std::holds_alternative<spec::AttachNamespace>(attach);
  const bool was_made = std::holds_alternative<spec::AttachNamespace>(node.nics[0].attach);
  if ((is_made || was_made) && maker_ == nullptr)
    throw ApiError(503, "the lab is still starting: namespaces cannot be created yet");

  const auto exchanges = std::make_shared<std::vector<std::shared_ptr<lab::Session::Exchange>>>();
  try {
    const lab::Interfaces made = is_made ? maker_->make(settings.lab(), node.name) : lab::Interfaces{};
    try {
      for (const build::Changes::Attached& a : changes->attachments())
        exchanges->push_back(session_.prepare_exchange(a.nic, a.to, made));
    } catch (...) {
      exchanges->clear();
      if (is_made) maker_->remove(node.name);
      throw;
    }
  } catch (const std::runtime_error& error) {
    throw ApiError(409, error.what());
  }
  const std::string name = node.name;
  const auto turn = std::make_shared<Turn>();
  Asked asked = ask(fmt::format("attach {} to {}", kind_of(attach), to),
                    [changes, exchanges, turn, &lab = session_.lab(), this](Engine& engine, Instant at) {
                      if (!turn->take()) return;
                      session_.give_up_probes(at);
                      changes->give_to(lab, at);
                      for (const auto& e : *exchanges) lab::Session::exchange(*e, at);
                      engine.wake_all();
                    });
  if (asked.result.wait_for(kPatience) != std::future_status::ready && turn->take()) {
    exchanges->clear();
    if (is_made) maker_->remove(name);
    throw ApiError(503, fmt::format("the engine did not apply it within {} s; nothing has changed", kPatience.count()));
  }
  out["effective_seconds"] = seconds(wait(std::move(asked)) - Instant{});
  for (const auto& e : *exchanges) session_.finish_exchange(*e);
  if (was_made) {
    maker_->remove(name);
    hosts_.erase(name);
  }
  if (is_made) hosts_[name] = maker_->reach(name);
  made_of_ = std::move(settings);
  return out;
}

}  // namespace railyard::daemon
