#include "control/front/link_map.h"

#include <cctype>
#include <utility>

#include "control/spec/reducers.h"
#include "control/spec/value.h"

namespace railyard::front {

using nlohmann::json;

LinkMap::LinkMap(const SitePlan& plan) : plan_(plan), lab_(spec::without_reducers(plan.lab)) {
  for (const std::string& site : plan.sites) parts_[site];
  // Sites keep the order (control/sites/part.cc), and have their reducers behind.
  for (std::size_t l = 0; l < lab_.links.size(); ++l) {
    const spec::LinkSpec& link = lab_.links[l];
    link_at_[spec::format(link.a)] = link_at_[spec::format(link.b)] = l;
    const std::string& a = plan.site_of.at(link.a.node);
    const std::string& b = plan.site_of.at(link.b.node);
    parts_.at(a).push_back({.link = l, .has_a = true, .has_b = a == b});
    if (a != b) parts_.at(b).push_back({.link = l, .has_a = false, .has_b = true});
  }
}

std::optional<std::size_t> LinkMap::link_at(const std::string& port) const {
  const auto found = link_at_.find(port);
  if (found == link_at_.end()) return std::nullopt;
  return found->second;
}

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.'; }

}  // namespace

std::string LinkMap::with_far_ends(const std::string& site, std::string text) const {
  const auto trunks = plan_.trunks.find(site);
  if (trunks == plan_.trunks.end()) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    // Ports end names: "leaf3:3-to-spine1-3:1".
    if (at > 0 && text[at - 1] == ':' && is_digit(text[at])) {
      while (at < text.size() && is_digit(text[at])) out += text[at++];
      if (at < text.size() && text[at] == '-') out += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_of_a_name(text[end])) ++end;
    const std::string name = text.substr(at, end - at);
    const auto trunk = trunks->second.find(name);
    const bool is_port = text.compare(end, 2, ":1") == 0 &&
                         (end + 2 >= text.size() || !is_of_a_name(text[end + 2]) || text[end + 2] == '-');
    if (trunk != trunks->second.end() && is_port) {
      out += trunk->second.far;
      at = end + 2;
    } else {
      out += name;
      at = end;
      if (at < text.size()) out += text[at++];
    }
  }
  return out;
}

json LinkMap::with_far_ends(const std::string& site, json said) const {
  if (said.is_string()) return with_far_ends(site, said.get<std::string>());
  if (said.is_structured())
    for (json& item : said) item = with_far_ends(site, std::move(item));
  return said;
}

}  // namespace railyard::front
