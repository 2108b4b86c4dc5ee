# Headers that are read once for many targets. Only in builds that compile several sources together (RAILYARD_TOGETHER)
# with clang: what a source forgets to include itself, the preset dev still says.
#
# What is precompiled fits where the flags are the same, so there is one for each kind: rooms of control/ and tests, each of
# what has to do with built labs, and other tests.

# What others bring as a macro on the command line must be the same, too.
set(railyard_precompiled_needs railyard_flags fmt::fmt nlohmann_json::nlohmann_json PkgConfig::DPDK)

# railyard_precompile(<target> <kind>): kind is control, for rooms and programs, tests or lab_tests. Makes what is shared
# when it is first asked for.
function(railyard_precompile target kind)
  if(NOT RAILYARD_TOGETHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  set(shared railyard_precompiled_${kind})
  if(NOT TARGET ${shared})
    # A target wants a source.
    set(source "${CMAKE_BINARY_DIR}/${shared}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
    if(kind MATCHES "tests$")
      add_executable(${shared} EXCLUDE_FROM_ALL "${source}")
      target_link_libraries(${shared} PRIVATE ${railyard_precompiled_needs} GTest::gtest GTest::gmock)
    else()
      add_library(${shared} STATIC EXCLUDE_FROM_ALL "${source}")
      target_link_libraries(${shared} PRIVATE ${railyard_precompiled_needs})
    endif()
    target_precompile_headers(${shared} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/${kind}.h")
    get_target_property(effort ${target} RAILYARD_EFFORT)
    if(effort)
      set_target_properties(${shared} PROPERTIES RAILYARD_EFFORT "${effort}")
    endif()
    target_compile_options(${shared} PRIVATE -Xclang -fno-pch-timestamp)  # ccache goes by what is in it
  endif()
  get_target_property(type ${target} TYPE)
  if(kind STREQUAL "control" AND type STREQUAL "EXECUTABLE")
    # As rooms are compiled: what is precompiled for these is for no -fPIE.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
