# Helpers of this project's CMake files: how a library, a tool and a set of
# TableGen outputs are made here.

# libstdc++ 12 deprecates what its own stable_sort uses.
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -Wno-deprecated-declarations)
# lld links in a second and takes archives in any order.
add_link_options(-fuse-ld=lld)
if(MLC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=vptr,function -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=vptr,function)
endif()

option(MLC_FUZZ "Build the fuzz targets, with libFuzzer's coverage everywhere" OFF)
if(MLC_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# mlc_compiler_library(NAME source... [DEPENDS tablegen-target...] [LINK lib...]):
# a static library over MLIR, without exceptions.
function(mlc_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}>)
  target_include_directories(${name} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}> $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# mlc_tool(NAME source... [LINK lib...]): an executable in build/bin.
function(mlc_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# mlc_tablegen(TARGET FILE.td "out1;-gen-x" "out2;-gen-y" ...): TableGen outputs
# beside the same path in the build tree, under one target.
function(mlc_tablegen target file)
  set(LLVM_TARGET_DEFINITIONS ${file})
  foreach(pair ${ARGN})
    string(REPLACE "|" ";" parts "${pair}")
    list(GET parts 0 output)
    list(SUBLIST parts 1 -1 flags)
    mlir_tablegen(${output} ${flags} -I${CMAKE_SOURCE_DIR} -I${MLIR_INCLUDE_DIR})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# mlc_embed(OUTPUT HEADER TYPE FUNCTION file...): a C++ source with the texts of
# the files, so that the tools are one file each; see EmbedFiles.cmake.
function(mlc_embed output header type function)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${ARGN}" -DHEADER=${header}
            -DTYPE=${type} -DFUNCTION=${function} -P ${script}
    DEPENDS ${ARGN} ${script}
    COMMENT "Embedding ${function}" VERBATIM)
endfunction()
