// What a fabric file says of the transport security sublayer (TSS) of Ultra Ethernet NICs: hosts.<name>.uet.security.
#pragma once

#include <optional>
#include <string>

#include "dataplane/base/time.h"

namespace railyard::spec {

enum class UetSecurityMode { kDirect, kCluster, kClient, kServer };

struct UetSecuritySpec {
  UetSecurityMode mode = UetSecurityMode::kDirect;
  int sdi = 1;
  std::string key;  // 64 hexadecimal digits, lower case
  std::optional<std::string> next_key;
  int association = 0;
  int epoch = 1;
  std::optional<int> rotate_after;      // packets
  std::optional<Duration> rotate_at;    // since the run began
  std::optional<int> rekey_after;       // packets, a power of two
  int replay_window = 4096;             // packets, a power of two

  bool operator==(const UetSecuritySpec&) const = default;
};

}  // namespace railyard::spec
