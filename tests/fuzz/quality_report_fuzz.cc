// Any octets as a report of link quality.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/wire/quality_report.h"
#include "tests/fuzz/expect.h"

using namespace railyard::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = std::as_bytes(std::span(data, size));
  const auto report = parse_quality_report(frame);
  if (!report) return 0;
  FUZZ_EXPECT(is_quality_report(frame));
  for (std::size_t i = 0; i < report->bands.size(); ++i) {
    FUZZ_EXPECT(report->bands[i] <= QualityReport::kNoLink);
    FUZZ_EXPECT(i < report->ports || report->bands[i] == 0);
  }
  std::array<std::byte, kMinFrameOctets> again{};
  write_quality_report(again, read<Ethernet::Source>(frame.data()), *report);
  FUZZ_EXPECT(parse_quality_report(again) == report);
  return 0;
}
