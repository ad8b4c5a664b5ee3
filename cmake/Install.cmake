# `cmake --install build --prefix DIR [--component NAME]`:
#   Runtime      the library that runs artifacts, its header, mlc-run
#   Tools        the command-line tools and the plugin for mlir-opt
#   Development  libraries, headers and the CMake package, for find_package(mlc)

install(TARGETS mlc_runtime_shared mlc-run COMPONENT Runtime)
install(FILES runtime/mlc_runtime.h runtime/mlc_pipeline.h runtime/mlc_ranks.h runtime/mlc_train.h DESTINATION include COMPONENT Runtime)

install(TARGETS mlc mlc-check mlc-eval mlc-lsp-server mlc-opt mlc-rules mlc-translate mlc-verify MLCPlugin COMPONENT Tools)

# What mlc::Passes, mlc::Rewritten (optimize and write back) and mlc::Verifier
# need, each under its name without the prefix.
set(libraries
  MLCArtifact MLCBackends MLCCodegenCPU MLCCodegenCUDA MLCDist MLCExec MLCExport MLCExtract MLCForm MLCFuse MLCGraph MLCImport MLCKernel
  MLCLayout MLCLower MLCMemory MLCOnnxSchema MLCOptimize MLCDifferentiate MLCDistribute MLCRunRanks MLCPassBase MLCPasses MLCProofKernel MLCProvedRules MLCRemedy MLCReplay MLCRewrites
  MLCRewritten MLCRule MLCSchedule MLCStages MLCTarget MLCVerifier)
foreach(library ${libraries})
  string(REGEX REPLACE "^MLC" "" short ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${short})
endforeach()
set(package lib/cmake/mlc)
install(TARGETS ${libraries} mlc_runtime mlc_runtime_plan mlc_runtime_schedule mlc_transport EXPORT mlcTargets ARCHIVE DESTINATION lib COMPONENT Development)
install(EXPORT mlcTargets NAMESPACE mlc:: DESTINATION ${package} COMPONENT Development)
foreach(folder dialects verifier rewrites codegen passes runtime simulator planner)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder} ${CMAKE_BINARY_DIR}/${folder}
    DESTINATION include/mlc COMPONENT Development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/mlcConfig.cmake.in ${CMAKE_BINARY_DIR}/mlcConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mlcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mlcConfig.cmake ${CMAKE_BINARY_DIR}/mlcConfigVersion.cmake
  DESTINATION ${package} COMPONENT Development)
