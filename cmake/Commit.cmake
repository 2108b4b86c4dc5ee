# cmake -DSOURCE=... -DOUTPUT=... -P Commit.cmake: writes a header that says which commit is built, with "-dirty" behind
# it if the tree says something else. Run with every build; the header is touched only when it changes.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude=* --abbrev=10
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define RAILYARD_COMMIT \"@commit@\"\n" @ONLY)
