# What a host gets: the library, its headers, the CMake package, the pkg-config file; and the .deb.
# Everything is found relative to the file that asks, so an installed tree may be moved.
include(CMakePackageConfigHelpers)
set(tsc_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tenscript)

install(TARGETS tenscript_shared EXPORT TenscriptTargets COMPONENT tenscript)
install(FILES ${tsc_public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenscript COMPONENT tenscript)
install(EXPORT TenscriptTargets NAMESPACE Tenscript:: DESTINATION ${tsc_package_folder}
        COMPONENT tenscript)

configure_package_config_file(
  package/TenscriptConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/TenscriptConfig.cmake
  INSTALL_DESTINATION ${tsc_package_folder} PATH_VARS CMAKE_INSTALL_BINDIR)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TenscriptConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TenscriptConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/TenscriptConfigVersion.cmake
        DESTINATION ${tsc_package_folder} COMPONENT tenscript)

# From lib/pkgconfig (or lib/<machine>/pkgconfig) up to the prefix.
file(RELATIVE_PATH TENSCRIPT_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(package/tenscript.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tenscript.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenscript.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT tenscript)
