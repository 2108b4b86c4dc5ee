# What releases are compiled with, and dev: clang 19 with its linker where both are there, else the default compiler.
# It compiles this in half the time of GCC 12, and its link-time optimisation makes the engine a tenth faster
# (tests/bench/README.md); nothing else depends on it.
if(NOT DEFINED CACHE{CMAKE_CXX_COMPILER} AND "$ENV{CXX}" STREQUAL "")
  find_program(RAILYARD_CLANG clang-19)
  find_program(RAILYARD_CLANGXX clang++-19)
  find_program(RAILYARD_LLD ld.lld-19)
  if(RAILYARD_CLANG AND RAILYARD_CLANGXX AND RAILYARD_LLD)
    set(CMAKE_C_COMPILER "${RAILYARD_CLANG}")
    set(CMAKE_CXX_COMPILER "${RAILYARD_CLANGXX}")
  endif()
endif()
