// The front's connection to one site: through a relay there, over a remote shell.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "control/front/child.h"
#include "control/front/site_record.h"

namespace railyard::front {

// The site does not answer: its machine, its relay or its daemon. One sentence.
class SiteGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Any thread may ask; one is answered at a time.
class SiteLink {
 public:
  SiteLink(RemoteShell shell, RecordedSite site) : shell_(std::move(shell)), site_(std::move(site)) {}

  const RecordedSite& site() const noexcept { return site_; }

  // Starts the site's part of this fabric file. Throws SiteGone, or InputError or std::runtime_error with what the site said.
  void start(const std::string& file);
  // Connects again to the part that runs, if there is no connection. Throws SiteGone.
  void reconnect();

  // Throws SiteGone, and api::ApiError as the site's daemon answered. `turn`: how long it waits for its turn while others ask.
  nlohmann::json ask(const std::string& method, const std::string& target, const nlohmann::json& body = nullptr,
                     std::chrono::milliseconds turn = kPatience);
  // The same of a GET whose answer is a file: its octets.
  std::string ask_for_file(const std::string& target);

  // Stops the part, or cleans up after a killed one. Throws std::runtime_error: it cannot be reached, or it stays.
  void stop();

  // Why it is away; empty: it answers.
  std::string why_gone() const;

  static constexpr std::chrono::milliseconds kPatience{20'000};

 private:
  static constexpr std::chrono::milliseconds kStartPatience{180'000};

  nlohmann::json open(const nlohmann::json& file, std::chrono::milliseconds patience);
  nlohmann::json body_of(const nlohmann::json& request, std::chrono::milliseconds turn);
  nlohmann::json exchange(const nlohmann::json& line, std::chrono::milliseconds patience);
  [[noreturn]] void gone(const std::string& why);

  RemoteShell shell_;
  RecordedSite site_;
  mutable std::timed_mutex mutex_;  // of what follows
  mutable std::mutex why_mutex_;   // of why_
  std::unique_ptr<Child> relay_;
  std::string why_;
};

}  // namespace railyard::front
