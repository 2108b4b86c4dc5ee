#include "control/guest/qemu_arguments.h"

#include <fmt/format.h>

#include "control/guest/guest_files.h"

namespace railyard::guest {
namespace {

// A value in a comma separated option: a comma is written twice.
std::string quoted(const std::string& value) {
  std::string out;
  for (const char c : value) out += c == ',' ? std::string(",,") : std::string(1, c);
  return out;
}
std::string quoted(const std::filesystem::path& path) { return quoted(path.string()); }

// The virtio NIC's own word for its speed, Mb/s (VIRTIO_NET_F_SPEED_DUPLEX); without it the guest knows none.
std::string speed(const GuestNic& nic) {
  constexpr std::int64_t kMega = 1'000'000;
  return nic.rate.bps < kMega ? "" : fmt::format(",speed={},duplex=full", nic.rate.bps / kMega);
}

}  // namespace

std::vector<std::string> qemu_arguments(const VmConfig& config, Accelerator accelerator) {
  const GuestFiles files{config.directory};
  const bool kvm = accelerator == Accelerator::kKvm;
  std::vector<std::string> out{config.qemu};
  const auto add = [&](std::string option, std::string value) {
    out.push_back(std::move(option));
    out.push_back(std::move(value));
  };
  // As in run-vm.sh. Without KVM, QEMU 7.2 crashes in virtio_pci's MSI-X code as soon as the guest's driver starts a
  // vhost-user device; INTx works.
  const std::string vectors = kvm ? "" : ",vectors=0";
  add("-name", quoted("railyard-" + config.network.hostname));
  add("-machine", "pc");
  add("-accel", kvm ? "kvm" : "tcg");
  add("-cpu", kvm ? "host" : "max");
  add("-smp", fmt::format("{}", config.cpus));
  add("-m", fmt::format("{}", config.memory_mib));
  for (const char* flag : {"-nodefaults", "-no-user-config", "-no-reboot"}) out.emplace_back(flag);
  add("-display", "none");
  add("-pidfile", files.pid_file().string());
  add("-qmp", fmt::format("unix:{},server=on,wait=off", quoted(files.monitor_socket())));
  add("-chardev", fmt::format("file,id=console,path={}", quoted(files.console())));
  add("-serial", "chardev:console");
  add("-kernel", (config.image / "vmlinux").string());
  add("-initrd", (config.image / "initrd.cpio").string());
  add("-append", fmt::format("console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check audit=0 apparmor=0 "
                             "cryptomgr.notests random.trust_cpu=on LAB_MODE=agent{}",
                             config.rdma ? "" : " LAB_RXE=no"));
  // The fabric reads and writes the guest's memory: it has to be a shared file.
  add("-object", fmt::format("memory-backend-memfd,id=mem,size={}M,share=on", config.memory_mib));
  add("-numa", "node,memdev=mem");

  add("-fw_cfg", fmt::format("name=opt/railyard/hostname,string={}", quoted(config.network.hostname)));
  add("-fw_cfg", fmt::format("name=opt/railyard/hosts,file={}", quoted(files.hosts())));
  add("-fw_cfg", fmt::format("name=opt/railyard/network-v4,file={}", quoted(files.network_v4())));
  add("-fw_cfg", fmt::format("name=opt/railyard/network-v6,file={}", quoted(files.network_v6())));

  for (std::size_t i = 0; i < config.network.nics.size(); ++i) {
    const GuestNic& nic = config.network.nics[i];
    if (nic.socket.empty()) {
      add("-netdev", fmt::format("hubport,id=net{0},hubid={0}", i));
      add("-device", fmt::format("virtio-net-pci,netdev=net{},mac={},romfile=", i, to_string(nic.mac)));
      continue;
    }
    // The fabric is the server, and may be started anew under a guest that stays.
    add("-chardev", fmt::format("socket,id=nic{},path={},reconnect=1", i, quoted(nic.socket)));
    add("-netdev", fmt::format("vhost-user,id=net{0},chardev=nic{0},queues=1", i));
    // rxe sends up to 128 packets in one go; with jumbo frames, three buffers each, they overrun the default ring of
    // 256.
    add("-device", fmt::format("virtio-net-pci,netdev=net{},mac={},romfile=,rx_queue_size=1024,tx_queue_size=1024{}{}", i,
                               to_string(nic.mac), speed(nic), vectors));
  }

  add("-device", "virtio-serial-pci,id=serial,max_ports=16" + vectors);
  const auto add_port = [&](const std::string& id, const std::string& name, const std::filesystem::path& socket) {
    add("-chardev", fmt::format("socket,id={},path={},server=on,wait=off", id, quoted(socket)));
    add("-device", fmt::format("virtserialport,chardev={},name=railyard.{}", id, name));
  };
  for (int port = 0; port < kAgentPorts; ++port)
    add_port(fmt::format("agent{}", port), fmt::format("{}", port), files.agent_socket(port));
  add_port("control", "control", files.control_socket());
  return out;
}

}  // namespace railyard::guest
