# cmake -DNPM=... -DSOURCE=... -DBUILD=... -DOUTPUT=... -P build_page.cmake
#
# Builds the page in BUILD by npm (empty: there is none), and writes its files into OUTPUT as C++. Without npm, or if that
# fails (no network, say), the files of fallback/: a build of the program never fails for want of the page.
function(build_page result)
  set(${result} "" PARENT_SCOPE)
  if(NPM STREQUAL "")
    return()
  endif()
  file(MAKE_DIRECTORY "${BUILD}")
  file(REMOVE_RECURSE "${BUILD}/src" "${BUILD}/dist")
  file(COPY "${SOURCE}/src" "${SOURCE}/index.html" "${SOURCE}/package.json" "${SOURCE}/package-lock.json"
            "${SOURCE}/tsconfig.json" "${SOURCE}/vite.config.ts" DESTINATION "${BUILD}")
  # Packages stay until the lock file changes.
  file(SHA256 "${BUILD}/package-lock.json" lock)
  set(installed "")
  if(EXISTS "${BUILD}/node_modules/.railyard-lock")
    file(READ "${BUILD}/node_modules/.railyard-lock" installed)
  endif()
  if(NOT installed STREQUAL lock)
    execute_process(COMMAND "${NPM}" ci --no-audit --no-fund --ignore-scripts WORKING_DIRECTORY "${BUILD}"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 300)
    if(failed)
      message(WARNING "npm ci failed; the live page is not built:\n${said}")
      return()
    endif()
    file(WRITE "${BUILD}/node_modules/.railyard-lock" "${lock}")
  endif()
  execute_process(COMMAND "${NPM}" run build WORKING_DIRECTORY "${BUILD}"
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 300)
  if(failed)
    message(WARNING "the live page could not be built:\n${said}")
    return()
  endif()
  set(${result} "${BUILD}/dist" PARENT_SCOPE)
endfunction()

function(media_type file result)
  set(type "application/octet-stream")
  if(file MATCHES "\\.html$")
    set(type "text/html; charset=utf-8")
  elseif(file MATCHES "\\.js$")
    set(type "text/javascript; charset=utf-8")
  elseif(file MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  elseif(file MATCHES "\\.svg$")
    set(type "image/svg+xml")
  endif()
  set(${result} "${type}" PARENT_SCOPE)
endfunction()

build_page(folder)
if(folder STREQUAL "")
  set(folder "${SOURCE}/fallback")
endif()
file(GLOB_RECURSE files RELATIVE "${folder}" "${folder}/*")
list(SORT files)
list(FILTER files EXCLUDE REGEX "\\.gz$")  # the same files, compressed by vite.config.ts
set(arrays "")
set(table "")
set(number 0)
foreach(file IN LISTS files)
  file(READ "${folder}/${file}" octets HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," octets "${octets}")
  media_type("${file}" type)
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {${octets}0};\n")
  set(gzip "")
  if(EXISTS "${folder}/${file}.gz")
    file(READ "${folder}/${file}.gz" octets HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," octets "${octets}")
    string(APPEND arrays "constexpr unsigned char kGzip${number}[] = {${octets}0};\n")
    set(gzip ", text(kGzip${number})")
  endif()
  string(APPEND table "      {\"/${file}\", \"${type}\", text(kFile${number})${gzip}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Made by build_page.cmake.
#include \"tools/web/page.h\"

#include <array>

namespace railyard::web {
namespace {

${arrays}
// But for the 0 behind it.
template <std::size_t N>
std::string_view text(const unsigned char (&octets)[N]) noexcept {
  return {reinterpret_cast<const char*>(octets), N - 1};
}

}  // namespace

std::span<const daemon::PageFile> page() noexcept {
  static const std::array<daemon::PageFile, ${number}> files{{
${table}  }};
  return files;
}

}  // namespace railyard::web
")
