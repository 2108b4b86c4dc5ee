#include "control/front/merged_happenings.h"

#include <algorithm>
#include <utility>

namespace railyard::front {

using nlohmann::json;

std::uint64_t MergedHappenings::take(const std::string& site, const json& happenings, std::uint64_t seen, const Clocks& clocks) {
  if (!happenings.is_array()) return seen;
  std::uint64_t last = seen;
  for (const json& h : happenings) {
    const json said = h.is_object() ? h.value("number", json()) : json();
    if (!said.is_number_unsigned() || said <= seen) continue;
    last = std::max(last, said.get<std::uint64_t>());
    const auto text = [&](const char* key) {
      const json value = h.value(key, json());
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    const auto number = [&](const char* key) {
      const json value = h.value(key, json());
      return value.is_number() ? value.get<double>() : 0;
    };
    daemon::Happening out{.number = 0,
                          .unix_seconds = number("unix_seconds") - clocks.unix_offset,
                          .modelled_seconds = number("modelled_seconds") - clocks.modelled_offset,
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
  return last;
}

void MergedHappenings::settle() {
  std::ranges::stable_sort(taken_, {}, &daemon::Happening::unix_seconds);
  for (daemon::Happening& h : taken_) all_.add_seen(std::move(h));
  taken_.clear();
}

}  // namespace railyard::front
