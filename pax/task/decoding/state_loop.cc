#include "pax/task/decoding/state_loop.h"

#include "pax/control/while_loop.h"

namespace pax {
namespace {

constexpr std::string_view kCache = "cache/";

std::vector<Tensor> values_of(const Tree<Tensor>& state) {
  std::vector<Tensor> values;
  for (const auto& [name, value] : state) values.push_back(value);
  return values;
}

/// `values` under the names of `like`.
Tree<Tensor> named(const Tree<Tensor>& like, std::span<const Tensor> values) {
  Tree<Tensor> state;
  size_t next = 0;
  for (const auto& [name, value] : like) state[name] = values[next++];
  return state;
}

}  // namespace

Tree<Tensor> loop_while(Graph& graph, const Tree<Tensor>& init,
                        const std::function<Tensor(const Tree<Tensor>&)>& condition,
                        const std::function<void(Tree<Tensor>&)>& body) {
  const std::vector<Tensor> last = while_loop(
      graph, values_of(init), [&](std::span<const Tensor> values) { return condition(named(init, values)); },
      [&](std::span<const Tensor> values) {
        Tree<Tensor> state = named(init, values);
        body(state);
        return values_of(state);
      });
  return named(init, last);
}

Tree<Tensor> cache_of(const Tree<Tensor>& state) {
  Tree<Tensor> cache;
  for (auto at = state.lower_bound(kCache); at != state.end() && at->first.starts_with(kCache); ++at) {
    cache[at->first.substr(kCache.size())] = at->second;
  }
  return cache;
}

void put_cache(Tree<Tensor>& state, const Tree<Tensor>& cache) {
  for (const auto& [name, value] : cache) state[std::string(kCache) + name] = value;
}

}  // namespace pax
