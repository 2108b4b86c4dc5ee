// Any octets as what an application tells the daemon: which NIC it wants, and later which ports of rdma_cm.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tests/fuzz/expect.h"
#include "transports/application/requests.h"

using namespace railyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A block of its own: one octet too far is an error of the sanitizer.
  const auto octets = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> own(octets.begin(), octets.end());
  if (const auto hello = application::read_hello(own)) {
    FUZZ_EXPECT(own.size() == sizeof(application::Hello));
    FUZZ_EXPECT(std::memchr(hello->host.data(), 0, hello->host.size()) != nullptr);
    FUZZ_EXPECT(hello->transport == application::Transport::kRoce || hello->transport == application::Transport::kUet);
    FUZZ_EXPECT(hello->nic >= 1 && hello->nic <= application::kMostNics);
  } else {
    FUZZ_EXPECT(hello.error().error > 0 && !hello.error().why.empty());
  }
  if (const auto request = application::read_port_request(own)) {
    FUZZ_EXPECT(own.size() == sizeof(application::PortRequest) && request->magic == application::kMagic);
    FUZZ_EXPECT(request->release <= 1);
  }
  return 0;
}
