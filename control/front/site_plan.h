// Which site runs what, worked out before anything starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/sites/placement.h"
#include "control/spec/spec.h"

namespace railyard::front {

struct SitePlan {
  spec::Lab lab;                   // with these sites only, each with all its nodes
  std::vector<std::string> sites;  // names, as they were chosen
  std::string file;                // for all sites
  std::map<std::string, std::string> site_of;  // by node, as status shows them
  struct Trunk {
    std::string site;   // whose end it is
    std::string other;  // where it leads
    std::string far{};  // the port there that it stands for, "leaf3:3"
  };
  std::map<std::string, std::map<std::string, Trunk>> trunks;  // by site and name
};

// `sites`: names of sites of the file, or [USER@]HOST of others. Throws spec::SpecError, std::invalid_argument or
// std::runtime_error: the file, the sites or the cut are wrong.
SitePlan plan_sites(const std::string& spec_file, const std::vector<std::string>& overrides, const std::vector<std::string>& sites);

}  // namespace railyard::front
