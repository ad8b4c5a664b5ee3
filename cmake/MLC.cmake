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

# MLIR's headers are most of what a source compiles; read once they halve the
# time of a build. Sources include what they use all the same: the presets of the
# sanitizers build without. One set for each way to compile; they do not mix.
# Unit tests are compiled with exceptions, as Catch2 wants, and -O1: they run for
# seconds.
option(MLC_PRECOMPILE_HEADERS "Compile the headers of MLIR that most sources include once" ON)
function(mlc_add_precompiled_headers name header)
  set(source ${CMAKE_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Only its precompiled headers are used.\n")
  add_library(${name} OBJECT ${source})
  target_include_directories(${name} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_precompile_headers(${name} PRIVATE ${header})
  target_compile_options(${name} PRIVATE -fPIC ${ARGN})
  # The compiler cache must not hand one folder's headers to another, which hold
  # its path. It knows them by what they are made of, so that objects are found
  # from other folders.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
  file(SHA256 ${PROJECT_SOURCE_DIR}/cmake/PrecompiledHeaders.h compiler)
  file(SHA256 ${header} headers)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum
    CONTENT "${compiler} ${headers} ${CMAKE_CXX_COMPILER_VERSION} ${LLVM_PACKAGE_VERSION} ${CMAKE_BUILD_TYPE} ${ARGN}\n")
endfunction()
if(MLC_PRECOMPILE_HEADERS)
  set(folder ${PROJECT_SOURCE_DIR}/cmake)
  mlc_add_precompiled_headers(mlc_headers ${folder}/PrecompiledHeaders.h -fno-exceptions)
  mlc_add_precompiled_headers(mlc_test_headers ${folder}/PrecompiledTestHeaders.h -O1)
endif()
# mlc_precompile_headers(TARGET [TEST]): a target over MLIR uses those of the
# compiler or those of unit tests.
function(mlc_precompile_headers target)
  cmake_parse_arguments(ARG "TEST" "" "" ${ARGN})
  if(NOT MLC_PRECOMPILE_HEADERS)
    return()
  endif()
  set(headers mlc_headers)
  if(ARG_TEST)
    set(headers mlc_test_headers)
  endif()
  # A dependency on the target alone would not make objects wait.
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY
      OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/CMakeFiles/${headers}.dir/cmake_pch.hxx.pch)
  endforeach()
  # Relative to the build, where Ninja starts compilers, so that the compiler
  # cache finds objects from other folders. Executables are otherwise compiled
  # -fPIE, with which these headers do not fit.
  target_compile_options(${target} PRIVATE
    -fPIC "SHELL:-include-pch CMakeFiles/${headers}.dir/cmake_pch.hxx.pch")
endfunction()

# What MLC_UNITY compiles in batches: libraries of many small sources that share
# most of their headers. Other targets are left as they are:
# - dialects: code of TableGen says `detail`, which is ambiguous after a source that
#   says `using namespace` of mlc and mlir;
# - the runtime: its sources are without MLIR's headers, and name State, which
#   several of its namespaces have;
# - the verifier and the rewrites: local names of their sources still meet;
# - back ends, kernels and fusion: people edit single sources of them;
# - other passes, tests, ONNX's schema and what is embedded: few sources of one
#   target, or long ones.
set(MLC_UNITY_LIBRARIES MLCDifferentiate MLCDistribute MLCImport mlc)
# mlc_unity(TARGET): its sources are compiled in batches where MLC_UNITY asks for
# it. test/structure/test_unity.py finds local names that would meet.
function(mlc_unity target)
  if(NOT MLC_UNITY OR NOT target IN_LIST MLC_UNITY_LIBRARIES)
    return()
  endif()
  set(size 8)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  # A batch is a source that CMake writes, numbered from 0; it waits for
  # precompiled headers too.
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(GET sources 0 first)
  cmake_path(ABSOLUTE_PATH first BASE_DIRECTORY ${folder})
  get_property(depends SOURCE ${first} PROPERTY OBJECT_DEPENDS)
  get_target_property(folder ${target} BINARY_DIR)
  list(LENGTH sources count)
  math(EXPR last "${count} / ${size}")
  foreach(number RANGE ${last})
    set_property(SOURCE ${folder}/CMakeFiles/${target}.dir/Unity/unity_${number}_cxx.cxx
      PROPERTY OBJECT_DEPENDS ${depends})
  endforeach()
endfunction()

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
  mlc_precompile_headers(${name})
  mlc_unity(${name})
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
  mlc_precompile_headers(${name})
  mlc_unity(${name})
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
