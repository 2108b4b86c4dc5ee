#include "control/picture/words.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::picture {
namespace {

// "100Gbps" has its unit behind a space in a picture.
std::string spaced(const std::string& amount) {
  const std::size_t unit = amount.find_first_not_of("0123456789.-");
  return unit == amount.npos ? amount : amount.substr(0, unit) + " " + amount.substr(unit);
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct AttachmentText {
  std::string operator()(std::monostate) const { return "built-in"; }
  std::string operator()(const spec::AttachPcap& a) const {
    if (a.in.empty() && a.out.empty()) return "capture";
    if (a.in.empty()) return "capture to " + file_name(a.out);
    return "capture " + file_name(a.in);
  }
  std::string operator()(const spec::AttachVhostUser& a) const { return "vhost-user " + file_name(a.socket); }
  std::string operator()(const spec::AttachMemif& a) const { return "memif " + file_name(a.socket); }
  std::string operator()(const spec::AttachDpdk& a) const { return "DPDK " + a.device; }
  std::string operator()(const spec::AttachNamespace&) const { return "namespace"; }
  std::string operator()(const spec::AttachVm&) const { return "VM"; }
  std::string operator()(const spec::AttachApplication&) const { return "applications"; }
  std::string operator()(const spec::AttachTap& a) const { return "TAP " + a.name; }
  std::string operator()(const spec::AttachNetdev& a) const { return "interface " + a.name; }
};

// A name and the number it ends with: "leaf-r1-g12" is "leaf-r1-g" and 12.
struct Numbered {
  std::string_view stem;
  std::int64_t number = -1;  // none
};

Numbered numbered(const std::string& name) {
  constexpr std::size_t kMostDigits = 15;
  std::size_t end = name.size();
  while (end > 0 && name.size() - end < kMostDigits && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0)
    --end;
  // A number with zeros in front counts in another way: h01..h10 is not what h1..h10 is.
  while (end < name.size() && name[end] == '0' && end + 1 < name.size()) ++end;
  if (end == name.size()) return {name, -1};
  return {std::string_view(name).substr(0, end), std::stoll(name.substr(end))};
}

}  // namespace

std::string rate_text(BitRate rate) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}};
  for (const auto& [unit, name] : kUnits) {
    // 1600 Gb/s is how it is called, not 1.6 Tb/s. What would be rounded to 10000 Gb/s is 10 Tb/s.
    const double amount = static_cast<double>(rate.bps) / unit;
    if (amount >= (unit == 1e12 ? 9.9995 : 1)) return fmt::format("{:.4g} {}", amount, name);
  }
  return fmt::format("{} b/s", rate.bps);
}

std::string cable_text(const spec::LinkSpec& link) {
  return spaced(link.cable ? spec::format(*link.cable) : spec::format(link.delay));
}

std::string attachment_text(const spec::Attachment& attachment) { return std::visit(AttachmentText{}, attachment); }

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostRanges = 2;
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < names.size();) {
    const Numbered first = numbered(names[i]);
    std::size_t last = i;
    for (std::int64_t next = first.number + 1; first.number >= 0 && last + 1 < names.size(); ++last, ++next)
      if (const Numbered n = numbered(names[last + 1]); n.stem != first.stem || n.number != next) break;
    if (++ranges > kMostRanges) return names.front() + " … " + names.back();
    if (!text.empty()) text += ", ";
    text += names[i];
    if (last > i) text += ".." + names[last];
    i = last + 1;
  }
  return text;
}

std::string counted(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string shortened(const std::string& text, std::size_t most) {
  std::size_t characters = 0;
  std::size_t cut = 0;  // behind most - 1 characters
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (++characters == most) cut = i;
  }
  return characters <= most ? text : text.substr(0, cut) + "…";
}

}  // namespace railyard::picture
