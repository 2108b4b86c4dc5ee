// The keys of traffic by rping.
#include "control/spec/keys/keys.h"

namespace railyard::spec {

const Table<RpingTraffic>& rping_keys() {
  constexpr std::uint32_t kLeast = 26, kMost = 65535;  // octets of a ping (transports/roce/services/rping_message.h)
  static const Table<RpingTraffic> table{
      "rping",
      "Pings as rping's client sends them: the server READs each and WRITEs it back",
      {key("size", &RpingTraffic::size, octets(kLeast, kMost), "rping's -S: octets of a ping").show(),
       key("count", &RpingTraffic::count, either("unlimited", 0, integer(1, 1'000'000'000)),
           "rping's -C: pings; without it no end")
           .show(),
       key("port", &RpingTraffic::port, integer(1, 65535), "rping's -p: where the server listens"),
       key("path-mtu", &RpingTraffic::path_mtu,
           choice<int>({{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}),
           "of the connection, in both directions: what the server's NIC takes, too; 1024 suits an MTU of 1500"),
       key("retry-after", &RpingTraffic::retry_after, either("off", Duration{}, duration(Duration{1}, kAnyTime)),
           "without a server there (yet), the client asks again after so long; off: it has failed")}};
  return table;
}

}  // namespace railyard::spec
