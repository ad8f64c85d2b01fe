#include "pax/experiments/extension.h"

#include <dlfcn.h>

#include "pax/base/error.h"
#include "pax/experiments/registry.h"

namespace pax {

config::Registry make_registry(std::span<const std::filesystem::path> libraries) {
  config::Registry registry = make_registry();
  for (const std::filesystem::path& library : libraries) {
    // With a slash, so that the loader does not look for it in its own folders.
    void* const handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) fail<ConfigError>("--load {}: {}", library.string(), ::dlerror());
    const auto* const version = static_cast<const char*>(::dlsym(handle, "pax_extension_version"));
    auto* const add = reinterpret_cast<decltype(&pax_register)>(::dlsym(handle, "pax_register"));
    if (version == nullptr || add == nullptr) {
      fail<ConfigError>("--load {}: exports no pax_register; see pax/experiments/extension.h", library.string());
    }
    if (std::string_view(version) != pax_extension_version) {
      fail<ConfigError>("--load {}: was built for Pax {}, this is {}; build it again", library.string(), version,
                        pax_extension_version);
    }
    add(registry);
  }
  return registry;
}

}  // namespace pax
