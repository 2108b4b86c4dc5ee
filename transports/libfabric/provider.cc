// How libfabric meets this provider: it is loaded from a folder (FI_PROVIDER_PATH) and says what it is.
#include <rdma/providers/fi_prov.h>

#include "transports/libfabric/objects.h"

namespace {

fi_provider provider = {.version = FI_VERSION(1, 0),
                        .fi_version = FI_VERSION(1, 17),
                        .context = {},
                        .name = "railyard",
                        .getinfo = railyard::libfabric::get_info,
                        .fabric = railyard::libfabric::open_fabric,
                        .cleanup = [] {}};

}  // namespace

extern "C" FI_EXT_INI;
fi_provider* fi_prov_ini(void) { return &provider; }
