#include "dataplane/wire/mac_address.h"

namespace railyard::wire {

std::string to_string(MacAddress address) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t octet : address.octets) {
    if (!text.empty()) text += ':';
    text += kDigits[octet >> 4];
    text += kDigits[octet & 0xF];
  }
  return text;
}

}  // namespace railyard::wire
