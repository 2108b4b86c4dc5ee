#include "control/front/site_links.h"

#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "control/api/message.h"

namespace railyard::front {

SiteLinks::SiteLinks(const SiteRecord& record) {
  for (const RecordedSite& site : record.sites) links_.push_back(std::make_unique<SiteLink>(record.shell, site));
}

std::exception_ptr SiteLinks::each(const std::function<void(SiteLink&)>& work) {
  std::vector<std::exception_ptr> failed(links_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < links_.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          work(*links_[i]);
        } catch (...) {
          failed[i] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& f : failed)
    if (f != nullptr) return f;
  return nullptr;
}

void SiteLinks::start(const std::string& file) {
  std::vector<SiteLink*> started;
  std::mutex mutex;
  const std::exception_ptr failed = each([&](SiteLink& link) {
    link.start(file);
    const std::scoped_lock lock(mutex);
    started.push_back(&link);
  });
  if (failed == nullptr) return;
  for (SiteLink* link : started) try {
      link->stop();
    } catch (const std::exception&) {
      // What has failed first is said.
    }
  std::rethrow_exception(failed);
}

std::vector<std::string> SiteLinks::stop() {
  std::vector<std::string> stays;
  std::mutex mutex;
  each([&](SiteLink& link) {
    try {
      link.stop();
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex);
      stays.emplace_back(error.what());
    }
  });
  return stays;
}

SiteLink& SiteLinks::at(const std::string& site) {
  for (const auto& link : links_)
    if (link->site().name == site) return *link;
  throw api::ApiError(404, fmt::format("there is no site '{}'", site));
}

std::vector<SiteState> SiteLinks::states() const {
  std::vector<SiteState> states;
  for (const auto& link : links_) states.push_back({link->site().name, link->site().lab, link->why_gone()});
  return states;
}

Answers SiteLinks::ask_all(const std::string& method, const std::string& target, const nlohmann::json& body,
                           std::chrono::milliseconds turn) {
  Answers answers;
  std::mutex mutex;
  const std::exception_ptr failed = each([&](SiteLink& link) {
    try {
      nlohmann::json answer = link.ask(method, target, body, turn);
      const std::scoped_lock lock(mutex);
      answers[link.site().name] = std::move(answer);
    } catch (const SiteGone&) {
      // states() says so.
    }
  });
  if (failed != nullptr) std::rethrow_exception(failed);
  return answers;
}

}  // namespace railyard::front
