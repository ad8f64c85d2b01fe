# Target SentencePiece::static: the encoder and decoder that scripts/setup built below PAX_DEPS_DIR.

find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)

find_library(SentencePieceStatic_LIBRARY libsentencepiece.a PATHS ${PAX_DEPS_DIR}/sentencepiece/lib NO_DEFAULT_PATH)
find_path(SentencePieceStatic_INCLUDE_DIR sentencepiece_processor.h PATHS ${PAX_DEPS_DIR}/sentencepiece/include NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePieceStatic
  REQUIRED_VARS SentencePieceStatic_LIBRARY SentencePieceStatic_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/setup")

if(SentencePieceStatic_FOUND AND NOT TARGET SentencePiece::static)
  add_library(SentencePiece::static STATIC IMPORTED)
  set_target_properties(SentencePiece::static PROPERTIES
    IMPORTED_LOCATION ${SentencePieceStatic_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SentencePieceStatic_INCLUDE_DIR})
  target_link_libraries(SentencePiece::static INTERFACE
    protobuf::libprotobuf absl::strings absl::str_format absl::status absl::flat_hash_map absl::flat_hash_set
    absl::random_random absl::synchronization absl::time Threads::Threads)
endif()
