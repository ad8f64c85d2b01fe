# find_package(pax) for projects of users: from the build tree (-Dpax_DIR=BUILD) and after `cmake --install`.

include(GNUInstallDirs)
get_property(libraries GLOBAL PROPERTY PAX_LIBRARIES)
install(TARGETS ${libraries} EXPORT paxTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS paxml RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/pax DESTINATION include FILES_MATCHING PATTERN "*.h")
install(EXPORT paxTargets NAMESPACE pax:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pax)
export(EXPORT paxTargets NAMESPACE pax:: FILE ${CMAKE_BINARY_DIR}/paxTargets.cmake)
configure_file(${CMAKE_SOURCE_DIR}/cmake/paxConfig.cmake.in ${CMAKE_BINARY_DIR}/paxConfig.cmake @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/paxConfig.cmake ${CMAKE_SOURCE_DIR}/cmake/FindArrowParquet.cmake
              ${CMAKE_SOURCE_DIR}/cmake/FindSentencePieceStatic.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pax)
