#include "tests/transports/uet/wire/vectors.h"

#include <stdexcept>
#include <string>

#include "dataplane/wire/parse.h"
#include "tests/transports/uet/wire/uet_vectors.h"

namespace railyard::uet {
namespace {

const UetVector& vector(std::string_view name) {
  for (const UetVector& one : kUetVectors)
    if (one.name == name) return one;
  for (const UetVector& one : kTssVectors)
    if (one.name == name) return one;
  throw std::runtime_error("no example is called " + std::string(name));
}

}  // namespace

wire::Octets vector_octets(std::string_view name) { return wire::hex(vector(name).octets); }

wire::Octets vector_packet(std::string_view name) {
  const wire::Octets octets = vector_octets(name);
  if (!vector(name).frame) return octets;
  // Behind IP and UDP or the entropy header, up to the CRC.
  const wire::FrameView view = wire::parse_frame(octets).value();
  return {octets.begin() + view.header_octets, octets.end() - 4};
}

Packet decoded_vector(std::string_view name, const Dialect& dialect) {
  return decode(vector_packet(name), dialect).value();
}

}  // namespace railyard::uet
