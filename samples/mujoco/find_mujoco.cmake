# Finds MuJoCo 4, by default the one of PyPI's mujoco-core, whose package holds the library and its headers: the target
# mujoco::mujoco. Without it the target is missing and MUJOCO_MISSING says what to do.
#
# MUJOCO_ROOT: a folder with include/mujoco/mujoco.h and libmujoco.so.*, or lib/libmujoco.so*, as in a release of
# MuJoCo. Not set: the package `mujoco` of RICCI_PYTHON, or of python3.
if(TARGET mujoco::mujoco)
  return()
endif()
set(MUJOCO_ROOT "" CACHE PATH "MuJoCo: a folder with include/ and the library; empty: the Python package")
set(mujoco_root ${MUJOCO_ROOT})
if(NOT mujoco_root)
  set(mujoco_python ${RICCI_PYTHON})
  if(NOT EXISTS "${mujoco_python}")
    find_program(mujoco_python_found python3)
    set(mujoco_python ${mujoco_python_found})
  endif()
  if(mujoco_python)
    execute_process(COMMAND ${mujoco_python} -c
      "import importlib.util as u; s = u.find_spec('mujoco'); print(s.submodule_search_locations[0] if s else '', end='')"
      OUTPUT_VARIABLE mujoco_root ERROR_QUIET)
  endif()
endif()

set(MUJOCO_MISSING "")
file(GLOB mujoco_libraries ${mujoco_root}/libmujoco.so* ${mujoco_root}/lib/libmujoco.so*)
if(NOT mujoco_root OR NOT mujoco_libraries OR NOT EXISTS ${mujoco_root}/include/mujoco/mujoco.h)
  set(MUJOCO_MISSING
      "MuJoCo was not found: pip install mujoco-core==4.0.0, or -DMUJOCO_ROOT=FOLDER with include/mujoco and libmujoco.so")
elseif(NOT EXISTS ${mujoco_root}/include/mujoco/mjbatch.h)
  set(MUJOCO_MISSING "MuJoCo in ${mujoco_root} is older than 4.0, which has mjbatch.h: pip install mujoco-core==4.0.0")
endif()
if(MUJOCO_MISSING)
  return()
endif()
list(GET mujoco_libraries -1 mujoco_library)
add_library(mujoco::mujoco SHARED IMPORTED GLOBAL)
set_target_properties(mujoco::mujoco PROPERTIES
  IMPORTED_LOCATION ${mujoco_library} INTERFACE_INCLUDE_DIRECTORIES ${mujoco_root}/include)
