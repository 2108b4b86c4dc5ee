#include "control/front/merged_happenings.h"

#include <algorithm>
#include <utility>

namespace railyard::front {

using nlohmann::json;

void MergedHappenings::take(const std::string& site, const json& happenings, double unix_offset, double modelled_offset) {
  if (!happenings.is_array()) return;
  for (const json& h : happenings) {
    if (!h.is_object()) continue;
    const auto text = [&](const char* key) {
      const json said = h.value(key, json());
      return said.is_string() ? said.get<std::string>() : std::string();
    };
    const auto number = [&](const char* key) {
      const json said = h.value(key, json());
      return said.is_number() ? said.get<double>() : 0;
    };
    daemon::Happening out{.number = 0,
                          .unix_seconds = number("unix_seconds") - unix_offset,
                          .modelled_seconds = number("modelled_seconds") - modelled_offset,
                          .kind = text("kind"),
                          .element = map_.with_far_ends(site, text("element")),
                          .text = map_.with_far_ends(site, text("text"))};
    if (out.kind == "log") out.text = site + ": " + out.text;
    if (const auto link = map_.link_at(out.element); out.kind == "link" && link) {
      std::set<std::string>& down = down_[*link];
      const bool was = !down.empty();
      if (out.text.ends_with(" down"))
        down.insert(site);
      else
        down.erase(site);
      if (was == !down.empty()) continue;
    }
    taken_.push_back(std::move(out));
  }
}

void MergedHappenings::settle() {
  std::ranges::stable_sort(taken_, {}, &daemon::Happening::unix_seconds);
  for (daemon::Happening& h : taken_) all_.add_seen(std::move(h));
  taken_.clear();
}

}  // namespace railyard::front
