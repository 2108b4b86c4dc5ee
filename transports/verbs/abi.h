// The side of libibverbs that its providers see and its -dev package does not ship: layouts of rdma-core's private ABI
// 34, x86-64, as they are in rdma-core 44 (Debian 12). They were found by reading its objects, and each size and place
// that counts is asserted. A libibverbs with another private ABI does not load this provider: its symbols have other
// versions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

namespace railyard::verbs::abi {

using Op = void (*)();  // one that this provider leaves to libibverbs' answer, which is EOPNOTSUPP

// What libibverbs read of a device in sysfs.
struct SysfsDevice {
  std::byte before[112];
  char ibdev_name[IBV_SYSFS_NAME_MAX];
  std::byte behind[816];
};
static_assert(sizeof(SysfsDevice) == 992 && offsetof(SysfsDevice, ibdev_name) == 112);

struct DeviceOps;

struct Device {
  ibv_device device;
  const DeviceOps* ops;
  std::byte list[24];  // libibverbs' own
  SysfsDevice* sysfs;
  std::uint64_t core_support;
};
static_assert(sizeof(ibv_device) == 664 && sizeof(Device) == 712 && offsetof(Device, sysfs) == 696);

struct DeviceOps {
  const char* name;
  std::uint32_t match_min_abi_version;
  std::uint32_t match_max_abi_version;
  const void* match_table;
  const void* static_providers;
  bool (*match_device)(SysfsDevice*);
  verbs_context* (*alloc_context)(ibv_device*, int cmd_fd, void* private_data);
  verbs_context* (*import_context)(ibv_device*, int cmd_fd);
  Device* (*alloc_device)(SysfsDevice*);
  void (*uninit_device)(Device*);
};
static_assert(sizeof(DeviceOps) == 72);

// What objects look like to providers: the public object, and what libibverbs keeps behind it.
struct Mr {
  ibv_mr mr;
  int type;  // 0: a plain region
  int access;
};
static_assert(sizeof(ibv_mr) == 48 && sizeof(Mr) == 56);

struct Qp {
  union {
    ibv_qp qp;
    ibv_qp_ex ex;
  };
  std::uint32_t comp_mask;
  std::uint32_t reserved[3];
};
inline constexpr std::uint32_t kQpIsEx = 2;  // of comp_mask: `ex` is there for ibv_qp_to_qp_ex()
static_assert(sizeof(ibv_qp) == 160 && sizeof(ibv_qp_ex) == 352 && sizeof(Qp) == 368 && offsetof(Qp, comp_mask) == 352);

struct Srq {
  ibv_srq srq;
  int type;
  void* xrcd;
  ibv_cq* cq;
  std::uint32_t srq_num;
};
static_assert(sizeof(Srq) == 160);

static_assert(sizeof(ibv_cq) == 128 && sizeof(ibv_cq_ex) == 288 && sizeof(ibv_context) == 328 &&
              sizeof(verbs_context) == 648 && offsetof(verbs_context, context) == 320 && sizeof(ibv_wc) == 48);

// What a provider offers, in the order of libibverbs. Null: libibverbs answers EOPNOTSUPP.
struct ContextOps {
  Op advise_mr, alloc_dm;
  ibv_mw* (*alloc_mw)(ibv_pd*, ibv_mw_type);
  Op alloc_null_mr, alloc_parent_domain;
  ibv_pd* (*alloc_pd)(ibv_context*);
  Op alloc_td;
  void (*async_event)(ibv_context*, ibv_async_event*);
  Op attach_counters_point_flow, attach_mcast;
  int (*bind_mw)(ibv_qp*, ibv_mw*, ibv_mw_bind*);
  Op close_xrcd;
  void (*cq_event)(ibv_cq*);
  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*);
  Op create_counters;
  ibv_cq* (*create_cq)(ibv_context*, int cqe, ibv_comp_channel*, int comp_vector);
  ibv_cq_ex* (*create_cq_ex)(ibv_context*, ibv_cq_init_attr_ex*);
  Op create_flow, create_flow_action_esp;
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*);
  ibv_qp* (*create_qp_ex)(ibv_context*, ibv_qp_init_attr_ex*);
  Op create_rwq_ind_table;
  ibv_srq* (*create_srq)(ibv_pd*, ibv_srq_init_attr*);
  Op create_srq_ex, create_wq;
  int (*dealloc_mw)(ibv_mw*);
  int (*dealloc_pd)(ibv_pd*);
  Op dealloc_td;
  int (*dereg_mr)(Mr*);
  int (*destroy_ah)(ibv_ah*);
  Op destroy_counters;
  int (*destroy_cq)(ibv_cq*);
  Op destroy_flow, destroy_flow_action;
  int (*destroy_qp)(ibv_qp*);
  Op destroy_rwq_ind_table;
  int (*destroy_srq)(ibv_srq*);
  Op destroy_wq, detach_mcast;
  void (*free_context)(ibv_context*);
  Op free_dm, get_srq_num, import_dm, import_mr, import_pd, modify_cq, modify_flow_action_esp;
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int mask);
  Op modify_qp_rate_limit;
  int (*modify_srq)(ibv_srq*, ibv_srq_attr*, int mask);
  Op modify_wq, open_qp, open_xrcd;
  int (*poll_cq)(ibv_cq*, int entries, ibv_wc*);
  int (*post_recv)(ibv_qp*, ibv_recv_wr*, ibv_recv_wr** bad);
  int (*post_send)(ibv_qp*, ibv_send_wr*, ibv_send_wr** bad);
  Op post_srq_ops;
  int (*post_srq_recv)(ibv_srq*, ibv_recv_wr*, ibv_recv_wr** bad);
  int (*query_device_ex)(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*, std::size_t octets);
  Op query_ece;
  int (*query_port)(ibv_context*, std::uint8_t port, ibv_port_attr*);
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int mask, ibv_qp_init_attr*);
  Op query_qp_data_in_order, query_rt_values;
  int (*query_srq)(ibv_srq*, ibv_srq_attr*);
  Op read_counters, reg_dm_mr, reg_dmabuf_mr;
  ibv_mr* (*reg_mr)(ibv_pd*, void* address, std::size_t octets, std::uint64_t hca_va, int access);
  int (*req_notify_cq)(ibv_cq*, int solicited_only);
  int (*rereg_mr)(Mr*, int flags, ibv_pd*, void* address, std::size_t octets, int access);
  int (*resize_cq)(ibv_cq*, int cqe);
  Op set_ece, unimport_dm, unimport_mr, unimport_pd;
};
static_assert(sizeof(ContextOps) == 608 && offsetof(ContextOps, poll_cq) == 424);

extern "C" {
void verbs_register_driver_34(const DeviceOps* ops);
void* _verbs_init_and_alloc_context(ibv_device* device, int cmd_fd, std::size_t octets, verbs_context* offset,
                                    std::uint32_t driver_id);
void verbs_set_ops(verbs_context* context, const ContextOps* ops);
void verbs_uninit_context(verbs_context* context);
}

}  // namespace railyard::verbs::abi
