// A hostile process behind a NIC that it shares: what it writes into its rings, at any moment, costs it alone. The fabric
// takes frames that have the NIC's addresses and no others, loses no packet, and serves the NIC's other process.
//
// Input: an octet (bit 0: it speaks UET), then steps, each an octet and what belongs to it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "dataplane/packet/edge.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/port/application_port.h"
#include "dataplane/run/eal.h"
#include "dataplane/wire/ethernet.h"
#include "tests/fuzz/expect.h"
#include "transports/roce/path.h"
#include "transports/roce/wire/packet.h"

using namespace railyard;

namespace {

constexpr FrameRingPairGeometry kRings{{.slots = 8, .slot_octets = 512}, {.slots = 8, .slot_octets = 512}};
constexpr std::uint32_t kHostile = 1 * ApplicationProcess::kQpnsPerProcess;
constexpr std::uint32_t kHonest = 2 * ApplicationProcess::kQpnsPerProcess;
const wire::MacAddress kMac{{2, 0, 0, 0, 0, 2}};
const wire::IpAddress kOwn(0x0A000001u), kPeer(0x0A000002u);

struct Input {
  std::span<const std::byte> left;
  std::uint32_t number(unsigned octets) {
    std::uint32_t n = 0;
    for (; octets > 0 && !left.empty(); --octets, left = left.subspan(1))
      n = n << 8 | std::to_integer<std::uint32_t>(left[0]);
    return n;
  }
  std::span<const std::byte> take(std::size_t octets) {
    const auto taken = left.first(std::min(octets, left.size()));
    left = left.subspan(taken.size());
    return taken;
  }
};

// An RC packet of the NIC, to a QP, without its ICRC.
std::vector<std::byte> honest_frame(std::uint32_t qp) {
  constexpr std::size_t kPayload = 64;
  roce::AddressVector av;
  av.source = kOwn;
  av.destination = kPeer;
  roce::Packet packet;
  packet.bth.opcode = roce::opcode::kRcSendOnly;
  packet.bth.dest_qp = qp;
  packet.payload_octets = kPayload;
  const std::array<std::byte, kPayload> payload{};
  std::vector<std::byte> frame(roce::Path::kMostOctets + packet.octets());
  const std::size_t front = roce::Path(av).write(frame.data(), packet.octets());
  frame.resize(front + roce::encode(std::span(frame).subspan(front), packet, payload));
  std::memcpy(frame.data() + 6, kMac.octets.data(), kMac.octets.size());
  return frame;
}

// A process as the daemon has it, and its memory as the process has it.
struct Process {
  explicit Process(std::shared_ptr<ApplicationProcess> of)
      : fabric(std::move(of)),
        memory(static_cast<std::byte*>(
            ::mmap(nullptr, kRings.octets(), PROT_READ | PROT_WRITE, MAP_SHARED, fabric->memory(), 0))) {}
  ~Process() { ::munmap(memory, kRings.octets()); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  FrameRingHeader& to_fabric(std::size_t c) const {
    return *reinterpret_cast<FrameRingHeader*>(kRings.rings_to_fabric(memory) + c * kRings.to_fabric.octets());
  }
  FrameRingHeader& to_host() const { return *reinterpret_cast<FrameRingHeader*>(kRings.ring_to_host(memory)); }
  // As the library in it does, but for what it has put in before.
  void put(std::size_t c, std::span<const std::byte> frame, std::uint32_t flags) const {
    FrameRingHeader& ring = to_fabric(c);
    const std::uint32_t at = ring.tail.load();
    std::byte* const slot = reinterpret_cast<std::byte*>(&ring) + sizeof(FrameRingHeader) +
                            std::size_t{at % kRings.to_fabric.slots} * kRings.to_fabric.slot_octets;
    const std::size_t octets = std::min<std::size_t>(frame.size(), kRings.to_fabric.room());
    std::memcpy(slot + FrameRingGeometry::kFrameAt, frame.data(), octets);
    auto& d = *reinterpret_cast<FrameDescriptor*>(slot);
    d.octets.store(static_cast<std::uint32_t>(octets));
    d.flags.store(flags);
    ring.tail.store(at + 1);
  }

  std::shared_ptr<ApplicationProcess> fabric;
  std::byte* memory;
};

PacketPools& pools() {
  static PacketPools all(1, {.elided_limit = 64, .real_limit = 64, .real_octets = 1024, .anywhere = true});
  return all;
}

class Target {
 public:
  explicit Target(bool uet)
      : hostile_(uet ? std::make_shared<ApplicationProcess>(kRings, UetNumbers{.block = 1, .job_id = 7})
                     : std::make_shared<ApplicationProcess>(kRings, kHostile)),
        honest_(std::make_shared<ApplicationProcess>(kRings, kHonest)) {
    port_.join(hostile_.fabric);
    port_.join(honest_.fabric);
  }
  ~Target() {
    release();
    FUZZ_EXPECT(pools().in_use() == 0);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  void step(Input& input) {
    switch (input.number(1) % 7) {
      case 0: {  // a word anywhere
        const std::uint32_t at = input.number(2);
        const std::uint32_t word = input.number(4);
        std::memcpy(hostile_.memory + at % (kRings.octets() / 4) * 4, &word, sizeof word);
        break;
      }
      case 1: {  // the numbers that count, by little
        const std::size_t ring = input.number(1) % kPriorities;
        hostile_.to_fabric(ring).tail.fetch_add(input.number(1));
        break;
      }
      case 2:
        hostile_.to_host().head.fetch_add(input.number(1));
        break;
      case 3: {  // octets as a frame
        const std::size_t ring = input.number(1) % kPriorities;
        const std::uint32_t flags = input.number(1);
        hostile_.put(ring, input.take(input.number(1) * 2), flags);
        break;
      }
      case 4: {  // a frame that would be right, but for some octets
        const std::size_t ring = input.number(1) % kPriorities;
        auto frame = honest_frame(input.number(3));
        for (std::uint32_t n = input.number(1) % 8; n > 0; --n) {
          const std::size_t at = input.number(1) % frame.size();
          frame[at] = static_cast<std::byte>(input.number(1));
        }
        hostile_.put(ring, frame, kFrameIcrcPending);
        break;
      }
      case 5:
        take(static_cast<PriorityMask>(input.number(1)));
        break;
      case 6:
        give();
        break;
    }
  }

  // Whatever the other one did.
  void expect_honest_one_is_served() {
    release();
    for (unsigned turns = 0; turns < 64; ++turns) {  // what is left of the hostile one's
      take(kAllPriorities);
      release();
    }
    const std::uint64_t before = honest_.fabric->counters().received.read();
    honest_.put(3, honest_frame(5), kFrameIcrcPending);
    ring(honest_);
    for (unsigned turns = 0; turns < 64 && honest_.fabric->counters().received.read() == before; ++turns) {
      take(kAllPriorities);
      release();
    }
    FUZZ_EXPECT(!honest_.fabric->broken());
    FUZZ_EXPECT(honest_.fabric->counters().received.read() == before + 1);
  }

 private:
  static void ring(const Process& process) {
    const std::uint64_t one = 1;
    FUZZ_EXPECT(::write(process.fabric->fabric_doorbell(), &one, sizeof one) == 8);
    for (std::size_t c = 0; c < kPriorities; ++c) process.to_fabric(c).consumer_sleeps.store(0);
  }
  void take(PriorityMask classes) {
    std::array<Packet*, 16> burst{};
    const std::size_t n = port_.take_of(classes, TrustMap{}, pools()[WorkerId{0}], burst);
    FUZZ_EXPECT(n <= burst.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Packet& p = *burst[i];
      FUZZ_EXPECT(p.header_octets + p.payload_octets <= kRings.to_fabric.room());
      FUZZ_EXPECT(wire::read<wire::Ethernet::Source>(p.header()) == kMac);
      const auto view = wire::parse_frame(p.header_span(), p.header_octets + std::size_t{p.payload_octets} + 4);
      FUZZ_EXPECT(view && view->source == kOwn);
      describe(*burst[i], *view, fecs_);
      held_.push_back(burst[i]);
    }
  }
  // What came out of the fabric goes to whom it is for.
  void give() {
    const std::size_t given = port_.give(pools()[WorkerId{0}], held_);
    FUZZ_EXPECT(given <= held_.size());
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(given));
  }
  void release() {
    for (Packet* p : held_) pools()[WorkerId{0}].release(p);
    held_.clear();
  }

  ApplicationPort port_{{.name = "h1:1", .mac = kMac, .address_v4 = kOwn, .address_v6 = std::nullopt, .mtu = 9216}};
  Process hostile_, honest_;
  FecTable fecs_;
  std::vector<Packet*> held_;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  start_eal({.memory_mib = 64, .huge_pages = false, .pci = false, .extra = {}});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{std::as_bytes(std::span(data, size))};
  Target target((input.number(1) & 1) != 0);
  while (!input.left.empty()) target.step(input);
  target.expect_honest_one_is_served();
  return 0;
}
