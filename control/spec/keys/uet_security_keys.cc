// The keys of the transport security sublayer of built-in Ultra Ethernet NICs.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr std::size_t kDigits = 64;

// A key of AES-256. Never shown in an error: it may be a real one.
Form<std::string> security_key() {
  Form<std::string> form = any_text();
  form.schema = Tree::map({{"type", Tree::string("string")}, {"pattern", Tree::string("^[0-9a-fA-F]{64}$")}});
  form.read = [read = form.read](const Tree& tree) {
    std::string digits = read(tree);
    if (digits.size() != kDigits)
      tree.fail(fmt::format("has {} characters; expected {} hexadecimal digits, a key of 32 bytes", digits.size(), kDigits));
    for (char& c : digits) {
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0)
        tree.fail(fmt::format("'{}' is not a hexadecimal digit; expected {} of them, a key of 32 bytes", c, kDigits));
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return digits;
  };
  return form;
}

Form<int> packets_power_of_two(int least, int most) {
  return checked<int>(integer(least, most), [=](const int& n) -> std::optional<std::string> {
    if ((n & (n - 1)) == 0) return std::nullopt;
    return fmt::format("{} is not a power of two; expected one in {}..{}", n, least, most);
  });
}

void check_security(const Tree& map, const UetSecuritySpec& s) {
  if (s.mode == UetSecurityMode::kDirect && s.rekey_after)
    map.at_or_self("rekey-after").fail("does not apply to direct keys; expected mode: cluster, client or server");
  if (s.rotate_after && s.rotate_at)
    map.at_or_self("rotate-at").fail("cannot be combined with rotate-after; expected one of them");
}

}  // namespace

const Table<UetSecuritySpec>& uet_security_keys() {
  static const Table<UetSecuritySpec> table{
      "uet-security",
      "Transport security sublayer (TSS): packets are encrypted and authenticated with AES-256-GCM. Hosts that talk to each "
      "other need the same values, except client and server",
      {key("mode", &UetSecuritySpec::mode,
           choice<UetSecurityMode>({{"direct", UetSecurityMode::kDirect},
                                    {"cluster", UetSecurityMode::kCluster},
                                    {"client", UetSecurityMode::kClient},
                                    {"server", UetSecurityMode::kServer}}),
           "direct: `key` encrypts the packets; cluster: a key for each sender is derived from `key`; client, server: a key "
           "for each client is derived from `key`, for traffic between the client and servers only"),
       key("sdi", &UetSecuritySpec::sdi, integer(0, 0xFF'FFFF), "number of the security domain, 24 bits"),
       key("key", &UetSecuritySpec::key, security_key(), "key of the domain, 64 hexadecimal digits").require(),
       key("next-key", &UetSecuritySpec::next_key, security_key(),
           "key of the other association number, which rotations alternate with; default: the same key"),
       key("association", &UetSecuritySpec::association, integer(0, 1), "association number that `key` belongs to"),
       key("epoch", &UetSecuritySpec::epoch, integer(0, 65535), "first epoch; packets of older epochs are dropped"),
       key("rotate-after", &UetSecuritySpec::rotate_after, integer(1, 2'000'000'000),
           "packets of a NIC after which it rotates: it takes the other association number and the next epoch. Default: no "
           "rotation"),
       key("rotate-at", &UetSecuritySpec::rotate_at, duration({}, kAnyTime),
           "time of the run at which the NIC rotates once. Default: no rotation"),
       key("rekey-after", &UetSecuritySpec::rekey_after, packets_power_of_two(64, 1 << 30),
           "packets after which a derived key changes without a rotation, a power of two. Default: never"),
       key("replay-window", &UetSecuritySpec::replay_window, packets_power_of_two(64, 1 << 20),
           "packets of a source that may arrive behind the newest one, a power of two. Older ones and repeated ones are "
           "dropped")},
      check_security};
  return table;
}

}  // namespace railyard::spec
