# The static core: every .cc of src/<layer> except the tool. Layers are listed in dependency order (tests check it).
find_package(absl REQUIRED)
set(RICCI_LAYERS base types ir kernel prim trace file transform control sharding pass runtime api laws)

add_library(ricci STATIC)
add_library(ricci::ricci ALIAS ricci)
ricci_target_defaults(ricci)
foreach(layer IN LISTS RICCI_LAYERS)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.cc)
  target_sources(ricci PRIVATE ${sources})
endforeach()
target_include_directories(ricci PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_precompile_headers(ricci PRIVATE ${PROJECT_SOURCE_DIR}/src/base/precompiled.h)
target_link_libraries(ricci PRIVATE absl::status absl::statusor absl::strings absl::str_format absl::hash
                      PUBLIC ${CMAKE_DL_LIBS})

# Deflated .npz files are the only thing that zlib is for, so it may be missing.
find_package(ZLIB)
if(ZLIB_FOUND)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/file/deflate.cc PROPERTIES COMPILE_DEFINITIONS RICCI_HAS_ZLIB)
  target_link_libraries(ricci PRIVATE ZLIB::ZLIB)
else()
  message(STATUS "zlib was not found: deflated .npz files will not be read")
endif()
