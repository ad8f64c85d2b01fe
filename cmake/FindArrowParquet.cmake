# Target Arrow::parquet: Arrow and Parquet with their C++ headers, as scripts/setup unpacked them below PAX_DEPS_DIR.

find_file(ArrowParquet_ARROW libarrow.so.2600 PATHS ${PAX_DEPS_DIR}/arrow/lib NO_DEFAULT_PATH)
find_file(ArrowParquet_PARQUET libparquet.so.2600 PATHS ${PAX_DEPS_DIR}/arrow/lib NO_DEFAULT_PATH)
find_path(ArrowParquet_INCLUDE_DIR parquet/arrow/reader.h PATHS ${PAX_DEPS_DIR}/arrow/include NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ArrowParquet
  REQUIRED_VARS ArrowParquet_ARROW ArrowParquet_PARQUET ArrowParquet_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/setup")

if(ArrowParquet_FOUND AND NOT TARGET Arrow::parquet)
  add_library(Arrow::arrow SHARED IMPORTED)
  set_target_properties(Arrow::arrow PROPERTIES
    IMPORTED_LOCATION ${ArrowParquet_ARROW} INTERFACE_INCLUDE_DIRECTORIES ${ArrowParquet_INCLUDE_DIR})
  add_library(Arrow::parquet SHARED IMPORTED)
  set_target_properties(Arrow::parquet PROPERTIES IMPORTED_LOCATION ${ArrowParquet_PARQUET})
  target_link_libraries(Arrow::parquet INTERFACE Arrow::arrow)
endif()
