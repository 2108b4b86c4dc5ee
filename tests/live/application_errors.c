/* Opens the first device over verbs, or the first domain over libfabric, and says on standard output how that ended: "opened",
 * "no device", or the name of the error.
 *
 * usage: application_errors verbs|verbs-without-memory|libfabric
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Of address space: what there is, and less than the rings need. */
static void limit_memory(void) {
  unsigned long pages = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  if (statm == NULL || fscanf(statm, "%lu", &pages) != 1) exit(2);
  fclose(statm);
  const struct rlimit most = {pages * 4096 + (1 << 21), pages * 4096 + (1 << 21)};
  if (setrlimit(RLIMIT_AS, &most) != 0) exit(2);
}

static const char* over_verbs(int without_memory) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  if (list == NULL || list[0] == NULL) return "no device";
  if (without_memory) limit_memory();
  errno = 0;
  return ibv_open_device(list[0]) != NULL ? "opened" : strerrorname_np(errno);
}

static const char* over_libfabric(void) {
  struct fi_info *hints = fi_allocinfo(), *info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup("railyard");
  int error = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
  if (error != 0) return "no device";
  error = fi_fabric(info->fabric_attr, &fabric, NULL);
  if (error == 0) error = fi_domain(fabric, info, &domain, NULL);
  return error == 0 ? "opened" : strerrorname_np(-error);
}

int main(int argc, char** argv) {
  const char* what = argc == 2 ? argv[1] : "";
  if (strcmp(what, "verbs") == 0) return puts(over_verbs(0)) < 0;
  if (strcmp(what, "verbs-without-memory") == 0) return puts(over_verbs(1)) < 0;
  if (strcmp(what, "libfabric") == 0) return puts(over_libfabric()) < 0;
  return 2;
}
