// What an agent needs of RDMA devices: what libibverbs gives (rdma_verbs.h), or a test in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/agent_protocol/messages.h"
#include "dataplane/wire/address.h"

namespace railyard::agent {

// Something that the device, or this host, does not do. One sentence, for people.
class VerbsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct WorkCompletion {
  std::uint64_t wr_id = 0;
  bool ok = true;
  std::string error{};                       // if not: what the standard calls it
  bool received = false;                     // a message came; else one that was asked for here is complete
  std::optional<std::uint32_t> immediate{};  // of what came; host order
  std::uint32_t octets = 0;                  // of it
};

// Of the registered memory: what is sent or, of READ, where the answer goes. WRITE with immediate data without octets
// is only these.
struct SendRequest {
  enum class Opcode : std::uint8_t { kWriteImm, kWrite, kSend, kRead };
  Opcode opcode = Opcode::kWriteImm;
  std::uint64_t wr_id = 0;
  std::uint64_t offset = 0;  // in that memory
  std::uint32_t octets = 0;
  std::uint64_t remote_address = 0;  // but for SEND
  std::uint32_t remote_key = 0;
  std::uint32_t immediate = 0;  // host order
};

// What peers may do with registered memory, beside writing to it.
enum class RemoteAccess : std::uint8_t { kWrite, kReadToo };

// Memory, RC QPs and their completions at one port of a device; given up with it. All throw VerbsError.
class RcVerbs {
 public:
  struct Memory {
    std::uint64_t address = 0;
    std::uint32_t key = 0;  // for peers
  };
  virtual ~RcVerbs() = default;

  virtual const std::string& device() const = 0;
  // READs of a QP that it takes at a time, and has under way itself.
  virtual std::uint8_t most_reads() const = 0;
  // Once, before anything is posted. It outlives this.
  virtual Memory register_memory(std::span<std::byte> memory, RemoteAccess access) = 0;
  // Its number; QPs are then named in the order in which they were made, from 0.
  virtual std::uint32_t create_qp(std::size_t send_requests, std::size_t receive_requests) = 0;
  // To INIT, so that receive requests can be posted; and from there to RTS.
  virtual void initialise(std::size_t qp) = 0;
  virtual void connect(std::size_t qp, const agents::QpPeer& peer, const agents::QpTerms& terms) = 0;

  virtual void post_send(std::size_t qp, const SendRequest& request) = 0;
  // Of the registered memory where a message goes that is sent; of WRITEs with immediate data none.
  virtual void post_receive(std::size_t qp, std::uint64_t wr_id, std::uint64_t offset = 0,
                            std::uint32_t octets = 0) = 0;
  // Completions of all QPs, in order; 0: none. Then ready_fd() becomes readable when there are more.
  virtual std::size_t poll(std::span<WorkCompletion> out) = 0;
  virtual int ready_fd() const = 0;  // -1: none
};

class Verbs {
 public:
  virtual ~Verbs() = default;
  // Ports of RDMA devices whose link layer is Ethernet.
  virtual std::vector<agents::DevicePort> devices() = 0;
  // At the port that has this address as a GID. `completions`: the most that can wait at once.
  virtual std::unique_ptr<RcVerbs> open(const wire::IpAddress& address, std::size_t completions) = 0;
  // What the port of a device has counted; empty if it does not tell.
  virtual std::map<std::string, std::uint64_t> counters(const std::string& device) = 0;
};

}  // namespace railyard::agent
