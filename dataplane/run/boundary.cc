#include "dataplane/run/boundary.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "dataplane/packet/carried_telemetry.h"

namespace railyard {
namespace {

// In front of each frame. kEnd: no more of them.
struct Head {
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  std::uint32_t channel = kEnd;
  std::uint32_t control = 0;
  Instant effect{};
  Instant start{};
  std::uint32_t octets = 0;  // real ones, behind the packet's metadata
  std::uint32_t unused = 0;
};

constexpr std::size_t kChannelsOfWord = 32;

// Headers, payload and telemetry, as they lie there.
std::size_t octets_of(const Packet& p) noexcept {
  const std::size_t real = real_octets_of(p);
  return p.telemetry == 0 ? real : real + telemetry_of(p).octets();
}

void check_frame(bool right) {
  if (!right) throw std::runtime_error("what another process has sent is no frame");
}

// Whether all `octets` that lie there are those of `p`.
bool is_whole(const Packet& p, std::size_t octets) noexcept {
  const std::size_t real = real_octets_of(p);
  if (p.telemetry == 0) return octets == real;
  constexpr std::size_t kHead = PathTelemetry::kHeadOctets;
  if (octets < real + kHead) return false;
  const auto hops = std::to_integer<std::size_t>(*telemetry_at(p));
  return hops <= PathTelemetry::kMostHops && octets == real + kHead + hops * sizeof(HopTelemetry);
}

}  // namespace

Boundary::Boundary(Fabric& fabric, const Parts& parts, PacketPools& pools)
    : fabric_(fabric),
      parts_(parts),
      pools_(pools),
      visiting_(fabric, parts),
      leaves_(fabric.channels().size(), false),
      borders_(fabric.size(), false) {
  std::vector<bool> is_neighbour(parts.peers->count(), false);
  for (std::size_t i = 0; i < fabric.channels().size(); ++i) {
    Channel& c = fabric.channels()[i];
    if (!parts.is_here(fabric.sender(i).device) || parts.is_here(c.receiver)) continue;
    leaves_[i] = true;
    borders_[fabric.sender(i).device.index()] = true;
    is_neighbour[parts.part_of[c.receiver.index()]] = true;
    if (outgoing_.size() % kChannelsOfWord == 0) rung_.emplace_back();
    const auto bit = static_cast<std::uint8_t>(2 * (outgoing_.size() % kChannelsOfWord));
    c.deliver_to({&rung_.back(), bit}, {&rung_.back(), static_cast<std::uint8_t>(bit + 1)});
    outgoing_.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t p = 0; p < is_neighbour.size(); ++p)
    if (is_neighbour[p]) neighbours_.push_back(static_cast<std::uint16_t>(p));
}

void Boundary::pack(Channel::Fifo& fifo, std::uint32_t channel, bool control, StateArchive& out) {
  for (; const InFlight* f = fifo.front(); fifo.pop()) {
    Packet& p = *f->packet;
    Head head{channel, control, f->effect, f->start, static_cast<std::uint32_t>(octets_of(p))};
    const std::size_t before = out.written().size();
    out.octets(&head, sizeof head);
    out.octets(&p, sizeof p);
    out.octets(p.header(), head.octets);
    if (p.sampled != 0) [[unlikely]]
      visiting_.pack(p, out);
    ++frames_;
    octets_ += out.written().size() - before;
    pools_[p.home].release(&p);
  }
}

void Boundary::pack(std::vector<StateArchive>& out) {
  for (std::size_t w = 0; w < rung_.size(); ++w)
    for (std::uint64_t rung = rung_[w].take(); rung != 0; rung &= rung - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(rung));
      const std::uint32_t channel = outgoing_[w * kChannelsOfWord + bit / 2];
      Channel& c = fabric_.channels()[channel];
      pack(bit % 2 == 0 ? c.data : c.control, channel, bit % 2 != 0, out[parts_.part_of[c.receiver.index()]]);
    }
  Head end;
  for (const std::uint16_t p : neighbours_) out[p].octets(&end, sizeof end);
}

bool Boundary::take(StateArchive& in, const std::function<PacketPool&(DeviceId)>& pool_of) {
  while (true) {
    Head head;
    in.octets(&head, sizeof head);
    if (head.channel == Head::kEnd) return true;
    Channel& c = fabric_.channels().at(head.channel);
    Packet metadata;
    in.octets(&metadata, sizeof metadata);
    PacketPool& pool = pool_of(c.receiver);
    const bool real = metadata.has(Packet::kRealPool);
    const std::size_t room = kHeaderAt + (real ? pool.real_octets() : pool.elided_octets());
    check_frame(!metadata.has(Packet::kFromPort) && metadata.header_at >= sizeof(Packet) &&
                std::size_t{metadata.header_at} + head.octets <= room);
    Packet* const p = real ? pool.allocate_real() : pool.allocate_elided();
    if (p == nullptr) return false;
    const WorkerId home = p->home;
    *p = metadata;
    p->home = home;
    in.octets(p->header(), head.octets);
    check_frame(is_whole(*p, head.octets));
    if (p->sampled != 0) [[unlikely]]
      visiting_.take(*p, in);
    const Duration lead = head.effect - head.start;
    head.control != 0 ? c.push_control(head.start, lead, p) : c.push_data(head.start, lead, p);
  }
}

}  // namespace railyard
