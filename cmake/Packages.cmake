# Debian packages: `cpack --config build/release/CPackConfig.cmake`, or tools/package.sh, which builds first.
#
#   railyard           the programs, labs, documents, completion, man pages
#   railyard-softroce  the SoftRoCE guests of labs with `attach: vm`
#   railyard-mpi       the plug-in for runs in several processes, where MPI is there to build it
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME railyard)
set(CPACK_PACKAGE_VENDOR "Railyard")
set(CPACK_PACKAGE_CONTACT "The Railyard developers <railyard@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "emulator of the Ethernet fabric of an AI cluster")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# A package for each component.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL railyard softroce)
if(TARGET railyard_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CPACK_PACKAGE_CONTACT}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RAILYARD_PACKAGE_NAME railyard)
set(CPACK_DEBIAN_RAILYARD_DESCRIPTION
"Railyard emulates lossless leaf-spine, fat-tree and rail-optimized Ethernet
with PFC, ECN, trimming, spraying and adaptive routing, between RoCEv2 and
Ultra Ethernet endpoints, in exact virtual time or live between network
namespaces, virtual machines and real NICs.")
# Libraries that the programs link, by dpkg-shlibdeps.
set(CPACK_DEBIAN_RAILYARD_PACKAGE_SHLIBDEPS ON)
# DPDK loads its drivers by name, and we run ip(8): the linker knows of neither.
set(CPACK_DEBIAN_RAILYARD_PACKAGE_DEPENDS
  "librte-mempool-ring23, librte-bus-pci23, librte-bus-vdev23, librte-net-vhost23, librte-net-virtio23, librte-net-memif23, librte-net-tap23, librte-net-af-xdp23, iproute2")
set(CPACK_DEBIAN_RAILYARD_PACKAGE_RECOMMENDS "railyard-softroce")
set(CPACK_DEBIAN_RAILYARD_PACKAGE_SUGGESTS "dpdk, wireshark | tshark, iperf3")

set(CPACK_DEBIAN_SOFTROCE_PACKAGE_NAME railyard-softroce)
set(CPACK_DEBIAN_SOFTROCE_DESCRIPTION
"SoftRoCE guests: scripts that build a small virtual machine of Debian
packages with the kernel's software RoCEv2 device, and run it in labs of
Railyard.")
set(CPACK_DEBIAN_SOFTROCE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_SOFTROCE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_SOFTROCE_PACKAGE_DEPENDS "railyard (>= ${PROJECT_VERSION}), qemu-system-x86, xz-utils, binutils, gcc")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME railyard-mpi)
set(CPACK_DEBIAN_MPI_DESCRIPTION
"Runs of Railyard in virtual time in several processes, on one machine or
many: mpirun -n 4 railyard run FILE.")
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "railyard (= ${PROJECT_VERSION}), openmpi-bin")

include(CPack)
