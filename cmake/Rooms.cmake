# A room is a folder with one static library; its tests mirror it under tests/.

# railyard_room(<name> SOURCES ... [DEPENDS ...])
function(railyard_room name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(railyard_${name} STATIC ${arg_SOURCES})
  target_link_libraries(railyard_${name} PUBLIC railyard_flags ${arg_DEPENDS})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/dataplane/")
    target_link_libraries(railyard_${name} PRIVATE railyard_dataplane_flags)
  else()
    railyard_quick_to_compile(${arg_SOURCES})
  endif()
endfunction()

# railyard_quick_to_compile(SOURCE...): for what is not run per packet, where the compiler's time counts more.
function(railyard_quick_to_compile)
  if(RAILYARD_OPTIMIZE MATCHES "-O[23]" AND NOT RAILYARD_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-O1")
  endif()
endfunction()

# railyard_test(<name> SOURCES ... DEPENDS ... [LABELS ...]): one GoogleTest binary. The EAL starts once per process,
# so a binary whose tests need packets links railyard_test_main_eal.
function(railyard_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  # What is tested is built as users get it; the tests themselves need not be fast, but quick to compile.
  if(RAILYARD_SANITIZE OR RAILYARD_OPTIMIZE MATCHES "-O[23]")
    set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS "-O0")
  endif()
  target_link_libraries(${name} PRIVATE railyard_flags ${arg_DEPENDS} GTest::gtest GTest::gmock)
  target_compile_definitions(${name} PRIVATE RAILYARD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             RAILYARD_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
