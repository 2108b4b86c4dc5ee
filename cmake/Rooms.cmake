# A room is a folder with one static library; its tests mirror it under tests/.

# What depends on one of these most likely includes what a built lab is.
set(railyard_with_built_labs "railyard_(build|telemetry|fault_control|report|swarm|sweep|compare|lab|agents|daemon|picture)(;|$)")

# railyard_room(<name> SOURCES ... [DEPENDS ...] [APART ...] [ALONE ...])
function(railyard_room name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;APART;ALONE" ${ARGN})
  add_library(railyard_${name} STATIC ${arg_SOURCES})
  target_link_libraries(railyard_${name} PUBLIC railyard_flags ${arg_DEPENDS})
  railyard_compile_together(railyard_${name} APART ${arg_APART} ALONE ${arg_ALONE})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/(dataplane|transports)/")
    target_link_libraries(railyard_${name} PRIVATE railyard_dataplane_flags)
  else()
    railyard_quick_to_compile(railyard_${name})
    if("railyard_${name};${arg_DEPENDS}" MATCHES "${railyard_with_built_labs}")
      railyard_precompile(railyard_${name} control)
    endif()
  endif()
endfunction()

# railyard_quick_to_compile(<target>): for what is not run per packet, where the compiler's time counts more. (Not -O0: of
# an inline function that several rooms have, the linker takes any, and might take the slow one for the dataplane.)
function(railyard_quick_to_compile target)
  if(RAILYARD_SANITIZE)
    set_target_properties(${target} PROPERTIES RAILYARD_EFFORT "-O0")
  elseif(RAILYARD_OPTIMIZE MATCHES "-O[23]")
    set_target_properties(${target} PROPERTIES RAILYARD_EFFORT "-O1;-g0")
  endif()
endfunction()

# railyard_compile_together(<target> [APART SOURCE ...] [ALONE SOURCE ...]): with RAILYARD_TOGETHER, up to twelve sources
# of a target as one, which spares the compiler what all of them include and instantiate. Some have helpers with the names of
# others': those that are APART are compiled with each other only, those that are ALONE each by itself.
function(railyard_compile_together target)
  cmake_parse_arguments(arg "" "" "APART;ALONE" ${ARGN})
  if(NOT RAILYARD_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  if(arg_ALONE)
    list(REMOVE_ITEM sources ${arg_ALONE})
  endif()
  if(arg_APART)
    list(REMOVE_ITEM sources ${arg_APART})
    set_source_files_properties(${arg_APART} PROPERTIES UNITY_GROUP apart)
  endif()
  list(LENGTH sources count)
  math(EXPR groups "(${count} + 11) / 12")
  set(index 0)
  foreach(source IN LISTS sources)
    # Groups of the same size, each of neighbours.
    math(EXPR group "${index} * ${groups} / ${count}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
    math(EXPR index "${index} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# railyard_test(<name> SOURCES ... DEPENDS ... [LABELS ...] [BESIDES <filter> ...] [APART ...] [ALONE ...]): one
# GoogleTest binary. The EAL starts once per process, so a binary whose tests need packets links railyard_test_main_eal. Tests that
# take long and share nothing with others can run beside them: those of each filter, <name>_1, <name>_2 ..., in a process
# of their own; all that no filter matches as <name>.
function(railyard_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPENDS;LABELS;BESIDES;APART;ALONE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  railyard_compile_together(${name} APART ${arg_APART} ALONE ${arg_ALONE})
  # What is tested is built as users get it; the tests themselves need not be fast, but quick to compile. A test that fails
  # says where by itself; what a sanitizer says needs lines.
  if(RAILYARD_SANITIZE)
    set_target_properties(${name} PROPERTIES RAILYARD_EFFORT "-O0")
  elseif(RAILYARD_OPTIMIZE MATCHES "-O[23]")
    set_target_properties(${name} PROPERTIES RAILYARD_EFFORT "-O0;-g0")
  endif()
  if(arg_DEPENDS MATCHES "${railyard_with_built_labs}")
    railyard_precompile(${name} lab_tests)
  else()
    railyard_precompile(${name} tests)
  endif()
  target_link_libraries(${name} PRIVATE railyard_flags railyard_without_lto ${arg_DEPENDS} fmt::fmt GTest::gtest GTest::gmock)
  target_compile_definitions(${name} PRIVATE RAILYARD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             RAILYARD_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(NOT arg_TIMEOUT)
    # Several times what it takes on two slow processors.
    set(arg_TIMEOUT 1500)
  endif()
  set(tests ${name})
  foreach(filter IN LISTS arg_BESIDES)
    list(LENGTH tests number)
    add_test(NAME ${name}_${number} COMMAND ${name} --gtest_filter=${filter})
    list(APPEND tests ${name}_${number})
  endforeach()
  list(JOIN arg_BESIDES ":" besides)
  add_test(NAME ${name} COMMAND ${name} "$<$<BOOL:${besides}>:--gtest_filter=-${besides}>" COMMAND_EXPAND_LISTS)
  set_tests_properties(${tests} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
