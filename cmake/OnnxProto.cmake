# mlc_find_onnx_proto(VARIABLE): the path of onnx-ml.proto, the schema of ONNX
# files, from the onnx package for Python. Looked for in MLC_ONNX_PROTO (CMake
# or environment), in .venv, and in the onnx package of MLC_PYTHON and python3.
function(mlc_find_onnx_proto variable)
  set(found "${MLC_ONNX_PROTO}")
  if(NOT found)
    set(found "$ENV{MLC_ONNX_PROTO}")
  endif()
  if(NOT found)
    file(GLOB found ${CMAKE_SOURCE_DIR}/.venv/lib/python*/site-packages/onnx/onnx-ml.proto)
  endif()
  foreach(python "${MLC_PYTHON}" python3)
    if(found OR NOT python)
      continue()
    endif()
    execute_process(
      COMMAND ${python} -c "import importlib.util as u; print(u.find_spec('onnx').submodule_search_locations[0])"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
    if(code EQUAL 0 AND EXISTS "${folder}/onnx-ml.proto")
      set(found "${folder}/onnx-ml.proto")
    endif()
  endforeach()
  list(LENGTH found count)
  if(count GREATER 1)
    list(GET found 0 found)
  endif()
  if(NOT found OR NOT EXISTS "${found}")
    message(FATAL_ERROR
      "onnx-ml.proto, the schema of ONNX files, was not found ('${found}'); run './dev setup', "
      "or set MLC_ONNX_PROTO to the file in an installed onnx package")
  endif()
  set(MLC_ONNX_PROTO "${found}" CACHE FILEPATH "onnx-ml.proto of the onnx package" FORCE)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()
