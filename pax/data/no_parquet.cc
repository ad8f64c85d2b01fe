#include "pax/base/error.h"
#include "pax/data/data_source.h"

namespace pax::data {

std::unique_ptr<ExampleFile> open_parquet(const std::filesystem::path& path) {
  fail<RuntimeError>("{}: this build reads no Parquet; run scripts/setup and build again", path.string());
}

}  // namespace pax::data
