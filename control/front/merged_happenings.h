// What has happened at all sites, in one list.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/daemon/happenings.h"
#include "control/front/link_map.h"

namespace railyard::front {

// Of what is taken in together the earliest comes first. Used by one thread at a time.
class MergedHappenings {
 public:
  // `map` outlives it.
  explicit MergedHappenings(const LinkMap& map) : map_(map) {}

  struct Clocks {
    double unix_offset = 0;      // of the site's machine minus this one's, in seconds
    double modelled_offset = 0;  // of its simulated time minus the lab's
  };
  // What a site has said, but for what it has said before: numbers up to `seen`, its own. Returns the last number now. Lines of its
  // log begin with its name. Of a link between sites, which both tell of, it tells once. What is none is left out.
  std::uint64_t take(const std::string& site, const nlohmann::json& happenings, std::uint64_t seen, const Clocks& clocks);
  // Of the lab itself, now.
  void add(daemon::Happening happening) { all_.add(std::move(happening)); }
  // What was taken in joins the list.
  void settle();

  std::vector<daemon::Happening> after(std::uint64_t seen) const { return all_.after(seen); }

 private:
  const LinkMap& map_;
  daemon::Happenings all_;
  std::vector<daemon::Happening> taken_;
  std::map<std::size_t, std::set<std::string>> down_;  // by link: which sites say so
};

}  // namespace railyard::front
