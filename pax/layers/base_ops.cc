#include "pax/layers/base_ops.h"

#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"

namespace pax {

Tensor EinsumOp::einsum(std::string_view equation, Tensor a, Tensor b) const { return pax::einsum(equation, a, b); }

std::pair<Tensor, Tensor> EinsumGatedOp::einsum(std::string_view equation, Tensor x, Tensor w, Tensor w_gated) const {
  return {pax::einsum(equation, x, w), pax::einsum(equation, x, w_gated)};
}

Tensor ArrayLookup::lookup(Tensor table, Tensor ids) const {
  if (is_signed(ids.dtype())) ids = select(lt(ids, 0.0), ids + static_cast<double>(table.dim(0)), ids);
  return take(table, ids, 0);
}

std::span<const std::pair<LookupStyle, std::string_view>> enum_names(LookupStyle) {
  static constexpr std::pair<LookupStyle, std::string_view> kNames[] = {{LookupStyle::kIndex, "index"},
                                                                        {LookupStyle::kMatmul, "matmul"}};
  return kNames;
}

Tensor TableLookup::operator()(LookupStyle style, Tensor table, Tensor ids) const {
  if (style == LookupStyle::kIndex) return by_index.lookup(table, ids);
  return by_product.einsum("...y,yz->...z", one_hot(ids, table.dim(0), table.dtype()), table);
}

template const config::ConfigType& config::type_of<EinsumOp::Config>();
template const config::ConfigType& config::type_of<EinsumGatedOp::Config>();
template const config::ConfigType& config::type_of<ArrayLookup::Config>();

}  // namespace pax
