// The links to all sites of a lab, and what is asked of several at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/front/merge.h"
#include "control/front/site_link.h"

namespace railyard::front {

class SiteLinks {
 public:
  explicit SiteLinks(const SiteRecord& record);

  // Starts all, side by side. Throws the first error; those that have started are stopped then.
  void start(const std::string& file);
  // Stops all, side by side; one message per site that stays.
  std::vector<std::string> stop();

  std::size_t size() const noexcept { return links_.size(); }
  SiteLink& operator[](std::size_t i) noexcept { return *links_[i]; }
  SiteLink& at(const std::string& site);
  std::vector<SiteState> states() const;

  // Asks all sites side by side. Sites that are away are left out; the first refusal of another is thrown. `turn`: as of
  // SiteLink::ask().
  Answers ask_all(const std::string& method, const std::string& target, const nlohmann::json& body = nullptr,
                  std::chrono::milliseconds turn = SiteLink::kPatience);

 private:
  // Each in a thread of its own; the first exception, in the order of the sites, or nullptr.
  std::exception_ptr each(const std::function<void(SiteLink&)>& work);

  std::vector<std::unique_ptr<SiteLink>> links_;
};

}  // namespace railyard::front
