# Compiler settings that hold for every target of ours.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# The preset's flags replace CMake's own for the build type, so that one place says what is built.
foreach(config DEBUG RELEASE RELWITHDEBINFO MINSIZEREL)
  set(CMAKE_CXX_FLAGS_${config} "")
  set(CMAKE_C_FLAGS_${config} "")
endforeach()
separate_arguments(railyard_optimize UNIX_COMMAND "${RAILYARD_OPTIMIZE}")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  if(RAILYARD_TOGETHER)  # with precompiled headers, which it takes for what they are made of
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()

add_library(railyard_flags INTERFACE)
target_compile_options(railyard_flags INTERFACE
  ${railyard_optimize}
  # What a target asks for instead (railyard_effort in Rooms.cmake).
  $<TARGET_PROPERTY:RAILYARD_EFFORT>
  # What Debian's DPDK asks for (-march=corei7): SSE4.2 and POPCNT, any x86-64 server since 2009.
  -march=x86-64-v2
  # Decisions must come out the same in every build (no fused multiply-add).
  -ffp-contract=off
  # Packing neighbouring words of a struct into vector registers costs more than it brings here.
  -fno-tree-slp-vectorize
  # GCC takes a tenth longer if it looks for garbage in its memory all the time (tools/common.sh counts on 1.5 GB each).
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=409600>
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual $<$<CXX_COMPILER_ID:Clang>:-Wnull-dereference> -Wimplicit-fallthrough
  # GCC 12 misfires in std::string and fmt at -O3 (GCC bug 105651 and its kin), and about null pointers in what it inlines
  # of streams and JSON.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  # Clang blames us for what libstdc++ 12's std::stable_sort calls.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
target_include_directories(railyard_flags INTERFACE "${PROJECT_SOURCE_DIR}")
if(RAILYARD_EXPENSIVE_CHECKS)
  target_compile_definitions(railyard_flags INTERFACE RAILYARD_EXPENSIVE_CHECKS=1)
endif()
if(RAILYARD_PLANTED_BUGS)
  target_compile_definitions(railyard_flags INTERFACE RAILYARD_PLANTED_BUGS=1)
endif()
if(RAILYARD_SANITIZE)
  target_compile_options(railyard_flags INTERFACE -fsanitize=${RAILYARD_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(railyard_flags INTERFACE -fsanitize=${RAILYARD_SANITIZE})
  # GCC 12's flow warnings misfire on code that a sanitizer has instrumented.
  target_compile_options(railyard_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-null-dereference> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(RAILYARD_SANITIZE MATCHES "thread")
  # rte_ring's default barriers are invisible to ThreadSanitizer.
  target_compile_definitions(railyard_flags INTERFACE RTE_USE_C11_MEM_MODEL)
endif()

# LLVM's linker, where it is there: it links a test in a sixth of the time that GNU's takes.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  string(REGEX MATCH "^[0-9]+" clang_major "${CMAKE_CXX_COMPILER_VERSION}")
  find_program(RAILYARD_CLANG_LLD "ld.lld-${clang_major}")
  if(RAILYARD_CLANG_LLD)
    add_link_options("-fuse-ld=lld-${clang_major}")
  endif()
endif()

# Link-time optimisation over the dataplane, for the programs that users run and that are measured. Tests link the same
# objects without it (railyard_without_lto), so that one more test does not cost one more pass over everything.
add_library(railyard_dataplane_flags INTERFACE)
add_library(railyard_program INTERFACE)
add_library(railyard_without_lto INTERFACE)
if(RAILYARD_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(railyard_dataplane_flags INTERFACE -flto=thin -ffat-lto-objects)
  # Of the linkers only LLVM's reads what clang leaves beside the code. What a slice of modelled time does becomes a few
  # large functions: that is worth a tenth (tests/bench/README.md).
  target_link_options(railyard_program INTERFACE ${railyard_optimize} -flto=thin -march=x86-64-v2
                      -fno-tree-slp-vectorize -fuse-ld=lld-${clang_major} -Wl,--fat-lto-objects
                      "-Wl,--thinlto-cache-dir=${CMAKE_BINARY_DIR}/lto"
                      "SHELL:-Wl,-mllvm,-import-instr-limit=1000 -Wl,-mllvm,-inline-threshold=2000")
  # What the program itself says of which paths are hot (tools/profile.sh).
  if(RAILYARD_PROFILE STREQUAL "generate")
    target_compile_options(railyard_dataplane_flags INTERFACE -fprofile-generate)
    add_link_options(-fprofile-generate)
  elseif(RAILYARD_PROFILE)
    target_compile_options(railyard_dataplane_flags INTERFACE "-fprofile-use=${RAILYARD_PROFILE}" -Wno-profile-instr-unprofiled
                           -Wno-profile-instr-out-of-date)
  endif()
elseif(RAILYARD_LTO)
  target_compile_options(railyard_dataplane_flags INTERFACE -flto=auto -ffat-lto-objects)
  target_link_options(railyard_program INTERFACE ${railyard_optimize} -flto=auto -march=x86-64-v2
                      -fno-tree-slp-vectorize -Wno-stringop-overflow)
  target_link_options(railyard_without_lto INTERFACE -fno-lto -fno-use-linker-plugin)
  # An archive's index is to name what its objects define when linked so, too: asked by way of the compiler's plugin they
  # name more, and the linker would take an object twice in search of it.
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> --plugin /dev/null qc <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> --plugin /dev/null q <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_FINISH "<CMAKE_RANLIB> --plugin /dev/null <TARGET>")
endif()
