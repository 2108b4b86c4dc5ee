// How links are numbered in the whole lab and at its sites, and what sites call the ends that are elsewhere.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/front/site_plan.h"

namespace railyard::front {

// A site models a link that crosses to another one by half: from its switch to a trunk.
class LinkMap {
 public:
  // `plan` outlives it.
  explicit LinkMap(const SitePlan& plan);

  // The lab as it is shown: without reducers. Links have the numbers that they have here.
  const spec::Lab& lab() const noexcept { return lab_; }

  // A link of a site: its number in the whole lab, and which of its ends are there.
  struct Part {
    std::size_t link = 0;
    bool has_a = false;
    bool has_b = false;
  };
  // By number at the site.
  const std::vector<Part>& at(const std::string& site) const { return parts_.at(site); }

  // The number of the link at a port, "leaf1:3"; nothing: there is none.
  std::optional<std::size_t> link_at(const std::string& port) const;

  // What a site says, with the port at the other site in the place of each trunk: "leaf1:5 - to-leaf3-3:1" is
  // "leaf1:5 - leaf3:3". Of JSON all texts.
  std::string with_far_ends(const std::string& site, std::string text) const;
  nlohmann::json with_far_ends(const std::string& site, nlohmann::json said) const;

 private:
  const SitePlan& plan_;
  spec::Lab lab_;
  std::map<std::string, std::vector<Part>> parts_;   // by site
  std::map<std::string, std::size_t> link_at_;       // by port
};

}  // namespace railyard::front
