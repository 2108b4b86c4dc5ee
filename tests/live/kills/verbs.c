/* Two processes that write to, read from and send to each other over an RC QP for ever. When one is killed, requests of the
 * other one end with RETRY_EXC_ERR.
 *
 * usage: kills_verbs listens|connects SOCKET polls|sleeps       (sleeps: on a completion channel)
 */
#include <infiniband/verbs.h>
#include <stdint.h>

#include "meet.h"

enum { OCTETS = 1 << 16, RECEIVES = 32, UNDER_WAY = 8, SMALL = 4096 };

struct end {
  uint32_t qpn, key;
  uint64_t address;
  union ibv_gid gid;
};

static struct ibv_qp* qp;
static struct ibv_mr* mr;
static unsigned char* memory;
static struct end here, there;

static void post_receive(void) {
  struct ibv_sge to = {(uintptr_t)memory, SMALL, mr->lkey};
  struct ibv_recv_wr wr = {.sg_list = &to, .num_sge = 1, .wr_id = RECEIVES}, *bad;
  CHECK(ibv_post_recv(qp, &wr, &bad) == 0);
}

static void post_request(unsigned n) {
  static const enum ibv_wr_opcode kinds[] = {IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ};
  struct ibv_sge piece = {(uintptr_t)memory, kinds[n % 3] == IBV_WR_SEND ? SMALL : OCTETS, mr->lkey};
  struct ibv_send_wr wr = {.opcode = kinds[n % 3], .sg_list = &piece, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
                           .wr.rdma = {there.address, there.key}}, *bad;
  CHECK(ibv_post_send(qp, &wr, &bad) == 0);
}

static void connect_qp(void) {
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  CHECK(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  for (int i = 0; i < RECEIVES; ++i) post_receive();
  struct ibv_qp_attr r = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = there.qpn, .rq_psn = 7,
                          .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
                          .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = there.gid, .hop_limit = 64}}};
  CHECK(ibv_modify_qp(qp, &r, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  /* 134 ms, six times: a busy machine may keep the peer from a processor. */
  struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .sq_psn = 7, .timeout = 15, .retry_cnt = 5, .rnr_retry = 7, .max_rd_atomic = 4};
  CHECK(ibv_modify_qp(qp, &s, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                  IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int sleeps = strcmp(argv[3], "sleeps") == 0;
  struct ibv_device** list = ibv_get_device_list(NULL);
  CHECK(list != NULL && list[0] != NULL);
  struct ibv_context* context = ibv_open_device(list[0]);
  CHECK(context != NULL);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  struct ibv_comp_channel* channel = ibv_create_comp_channel(context);
  CHECK(pd != NULL && channel != NULL);
  struct ibv_cq* cq = ibv_create_cq(context, 2 * (RECEIVES + UNDER_WAY), NULL, channel, 0);
  CHECK(cq != NULL && (memory = aligned_alloc(4096, OCTETS)) != NULL);
  memset(memory, 1, OCTETS);
  CHECK((mr = ibv_reg_mr(pd, memory, OCTETS, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)) != NULL);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = UNDER_WAY, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1}};
  CHECK((qp = ibv_create_qp(pd, &init)) != NULL);
  here = (struct end){.qpn = qp->qp_num, .key = mr->rkey, .address = (uintptr_t)memory};
  CHECK(ibv_query_gid(context, 1, 0, &here.gid) == 0);
  exchange(peer_at(argv[2], strcmp(argv[1], "listens") == 0), &here, &there, sizeof here);
  connect_qp();
  unsigned posted = 0;
  while (posted < UNDER_WAY) post_request(posted++);
  for (int armed = 0;;) {
    struct ibv_wc wc;
    const int n = ibv_poll_cq(cq, 1, &wc);
    CHECK(n >= 0);
    if (n == 0) {
      if (sleeps && !armed) CHECK(ibv_req_notify_cq(cq, 0) == 0);
      if (sleeps && armed) {
        struct ibv_cq* which;
        void* its;
        CHECK(ibv_get_cq_event(channel, &which, &its) == 0);
        ibv_ack_cq_events(which, 1);
      }
      armed = sleeps && !armed;
      continue;
    }
    if (wc.status == IBV_WC_RETRY_EXC_ERR) {
      printf("after %u requests: %s\n", posted, ibv_wc_status_str(wc.status));
      return PEER_MISSED;
    }
    if (wc.status != IBV_WC_SUCCESS) {
      printf("after %u requests: %s, expected RETRY_EXC_ERR\n", posted, ibv_wc_status_str(wc.status));
      return 1;
    }
    is_connected(argv[2]);
    if (wc.wr_id == RECEIVES)
      post_receive();
    else
      post_request(posted++);
  }
}
