# Packages: `cpack -G DEB` makes a .deb of what `cmake --install` installs, `cpack --config CPackSourceConfig.cmake` a
# tarball of the sources, both in the build folder.
#
# The .deb depends on what Debian's own tool finds in the shared objects and the tool, and on the development packages
# that hosts of the static core link. Its version is the project's; SONAME is in shared.cmake.
set(CPACK_PACKAGE_NAME ricci)
set(CPACK_PACKAGE_VENDOR "The Ricci authors")
set(CPACK_PACKAGE_CONTACT "The Ricci authors <ricci@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Composable transformations of numerical programs, with a C ABI")
set(CPACK_PACKAGE_DESCRIPTION "Traces numerical programs and differentiates, batches and compiles them:
 grad, jvp, vmap and jit for C, C++, Rust, Python and the engines that embed it. Primitives and backends are plugins.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # installs into /usr
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libabsl-dev, zlib1g-dev, libzstd-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "llvm-19-dev")
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME ricci-${PROJECT_VERSION})
# Of the folders that .gitignore names, within this one, wherever that lies.
string(REGEX REPLACE "([.+*()$?|{}])" "[\\1]" sources "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES
    "^${sources}/[.]git(/|$)" "^${sources}/(.*/)?build[^/]*/" "^${sources}/[.]venv/" "^${sources}/out/"
    "^${sources}/(.*/)?[.]cache/" "^${sources}/bindings/rust/target/" "/__pycache__/" "[.]egg-info" "[.]pyc$"
    "/compile_commands[.]json$")
include(CPack)
