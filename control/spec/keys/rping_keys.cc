// The keys of traffic by rping.
#include "control/spec/keys/keys.h"

namespace railyard::spec {

const Table<RpingTraffic>& rping_keys() {
  constexpr std::uint32_t kLeast = 26, kMost = 65535;  // octets of a ping (transports/roce/services/rping_message.h)
  static const Table<RpingTraffic> table{
      "rping",
      "Pings as the rping client sends them: the server READs each ping and WRITEs it back",
      {key("size", &RpingTraffic::size, octets(kLeast, kMost), "rping's -S: size of a ping in bytes").show(),
       key("count", &RpingTraffic::count, either("unlimited", 0, integer(1, 1'000'000'000)),
           "rping's -C: number of pings; default: unlimited")
           .show(),
       key("port", &RpingTraffic::port, integer(1, 65535), "rping's -p: port where the server listens"),
       key("path-mtu", &RpingTraffic::path_mtu,
           choice<int>({{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}),
           "path MTU of the connection in both directions, also for the server's NIC; 1024 suits an MTU of 1500"),
       key("retry-after", &RpingTraffic::retry_after, either("off", Duration{}, duration(Duration{1}, kAnyTime)),
           "interval at which the client retries while there is no server; off: it fails at once")}};
  return table;
}

}  // namespace railyard::spec
