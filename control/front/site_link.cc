#include "control/front/site_link.h"

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/base/base64.h"
#include "control/base/exit_code.h"
#include "control/base/json_text.h"
#include "control/spec/input_error.h"

namespace railyard::front {

using nlohmann::json;
using std::chrono::milliseconds;

std::string SiteLink::why_gone() const {
  const std::scoped_lock lock(why_mutex_);
  return why_;
}

void SiteLink::gone(const std::string& why) {
  {
    const std::scoped_lock lock(why_mutex_);
    why_ = why;
  }
  throw SiteGone(fmt::format("site {}: {}", site_.name, why));
}

json SiteLink::exchange(const json& line, milliseconds patience) {
  if (relay_ == nullptr) gone(why_gone().empty() ? "not connected" : why_gone());
  std::optional<std::string> text;
  if (relay_->write_line(line.dump())) text = relay_->read_line(patience);
  if (!text) {
    const bool silent = !relay_->has_ended();
    std::string words = silent ? std::string() : relay_->last_words();
    relay_.reset();
    gone(silent ? fmt::format("no answer within {} s", patience.count() / 1000)
                : fmt::format("cannot be reached{}{}", words.empty() ? "" : ": ", words));
  }
  json said = is_nested_too_deeply(*text) ? json() : json::parse(*text, nullptr, false);
  if (!said.is_object()) {
    relay_.reset();
    gone(fmt::format("answered '{}'; expected a railyard of the same version", text->substr(0, 80)));
  }
  if (said.contains("gone")) gone(said["gone"].is_string() ? said["gone"].get<std::string>() : "its daemon does not answer");
  const std::scoped_lock lock(why_mutex_);
  why_.clear();
  return said;
}

json SiteLink::open(const json& file, milliseconds patience) {
  try {
    relay_ = std::make_unique<Child>(shell_.command(site_.name, site_.target, {"relay"}));
  } catch (const std::runtime_error& error) {
    gone(error.what());
  }
  return exchange({{"lab", site_.lab}, {"site", site_.name}, {"file", file}}, patience);
}

void SiteLink::start(const std::string& file) {
  const std::scoped_lock lock(mutex_);
  const json said = open(file, kStartPatience);
  if (!said.contains("error")) return;
  const std::string what = fmt::format("site {}: {}", site_.name, said["error"].get<std::string>());
  if (said.value("exit_code", 0) == tools::kInput) throw InputError(what);
  throw std::runtime_error(what);
}

void SiteLink::reconnect() {
  const std::scoped_lock lock(mutex_);
  if (relay_ == nullptr) open(nullptr, kPatience);
}

json SiteLink::body_of(const json& request, milliseconds turn) {
  std::unique_lock lock(mutex_, std::defer_lock);
  // Nobody waits for a connection that may take long to fail.
  if (const std::string why = why_gone(); !why.empty() && !lock.try_lock())
    throw SiteGone(fmt::format("site {}: {}", site_.name, why));
  if (!lock.owns_lock() && !lock.try_lock_for(turn)) throw SiteGone(fmt::format("site {}: no answer yet", site_.name));
  json said = exchange(request, kPatience);
  const json status = said.value("status", json());
  if (!status.is_number_integer() || status < 200 || status > 599)
    throw api::ApiError(503, fmt::format("site {}: an answer without a status; expected a railyard of the same version",
                                         site_.name));
  if (status >= 400)
    throw api::ApiError(status.get<int>(), said["body"].is_string() ? said["body"].get<std::string>() : "refused");
  return std::move(said["body"]);
}

json SiteLink::ask(const std::string& method, const std::string& target, const json& body, milliseconds turn) {
  return body_of({{"method", method}, {"target", target}, {"body", body}}, turn);
}

std::string SiteLink::ask_for_file(const std::string& target) {
  const json body = body_of({{"method", "GET"}, {"target", target}, {"body", nullptr}, {"is_file", true}}, kPatience);
  if (body.is_string())
    if (auto octets = from_base64(body.get_ref<const std::string&>())) return *std::move(octets);
  throw api::ApiError(503, fmt::format("site {}: no file in the answer; expected a railyard of the same version", site_.name));
}

void SiteLink::stop() {
  const std::scoped_lock lock(mutex_);
  if (relay_ == nullptr) {
    try {
      open(nullptr, kPatience);
    } catch (const SiteGone&) {
      if (relay_ == nullptr) throw;  // else the daemon has ended, and leaves things to remove
    }
  }
  const json said = exchange({{"down", true}}, milliseconds(60'000));
  relay_.reset();
  if (said.contains("error"))
    throw std::runtime_error(fmt::format("site {}: {}", site_.name, said["error"].get<std::string>()));
}

}  // namespace railyard::front
