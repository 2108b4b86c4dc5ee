// Any octets as execution traces of Chakra: the first octet says where the file of rank 1 begins, in 256ths.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "control/jobs/chakra.h"
#include "tests/fuzz/trace_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t middle = all.size() * data[0] / 256;
  return railyard::fuzz::expect_trace(railyard::jobs::read_chakra({{"0", all.substr(0, middle)}, {"1", all.substr(middle)}}));
}
