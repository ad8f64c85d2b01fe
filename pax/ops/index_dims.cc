#include "pax/ops/index_dims.h"

#include <algorithm>

namespace pax {

using Dims = std::vector<int64_t>;

bool contains(const Dims& dims, int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

bool are_dims(Dims dims, int64_t rank) {
  std::ranges::sort(dims);
  return std::ranges::adjacent_find(dims) == dims.end() && (dims.empty() || (dims.front() >= 0 && dims.back() < rank));
}

bool fit(const GatherDims& dims, const Shape& x, const Shape& indices) {
  const int64_t vector_dim = dims.index_vector_dim;
  bool ok = vector_dim >= 0 && vector_dim <= indices.rank() && are_dims(dims.collapsed, x.rank()) &&
            are_dims(dims.operand_batch, x.rank()) && are_dims(dims.index_map, x.rank()) &&
            are_dims(dims.indices_batch, indices.rank()) && dims.operand_batch.size() == dims.indices_batch.size() &&
            !contains(dims.indices_batch, vector_dim) && std::ranges::is_sorted(dims.collapsed) &&
            std::ranges::is_sorted(dims.operand_batch) && std::ranges::is_sorted(dims.window);
  const int64_t vector_size = ok && vector_dim < indices.rank() ? indices[vector_dim] : 1;
  ok = ok && vector_size == static_cast<int64_t>(dims.index_map.size()) &&
       static_cast<int64_t>(dims.window.size() + dims.collapsed.size() + dims.operand_batch.size()) == x.rank();
  for (size_t i = 0; ok && i < dims.operand_batch.size(); ++i) {
    ok = !contains(dims.collapsed, dims.operand_batch[i]) && !contains(dims.index_map, dims.operand_batch[i]) &&
         x[dims.operand_batch[i]] == indices[dims.indices_batch[i]];
  }
  return ok;
}

Shape without_vector(const Shape& indices, int64_t vector_dim) {
  return vector_dim < indices.rank() ? indices.without(vector_dim) : indices;
}

GatherDims take_dims(int64_t rank, int64_t ids_rank, int64_t dim) {
  GatherDims dims{.collapsed = {dim}, .index_map = {dim}, .index_vector_dim = ids_rank};
  for (int64_t i = 0; i < rank - 1; ++i) dims.window.push_back(i < dim ? i : i + ids_rank);
  return dims;
}

GatherDims along_dims(int64_t rank, int64_t dim) {
  GatherDims dims{.collapsed = {dim}, .index_map = {dim}, .index_vector_dim = rank};
  for (int64_t i = 0; i < rank; ++i) {
    if (i == dim) continue;
    dims.operand_batch.push_back(i);
    dims.indices_batch.push_back(i);
  }
  return dims;
}

namespace {

void shift_operand(GatherDims& dims) {
  for (auto* list : {&dims.collapsed, &dims.operand_batch, &dims.index_map}) {
    for (int64_t& dim : *list) ++dim;
  }
}

}  // namespace

GatherDims batch_indices(GatherDims dims) {
  for (auto* list : {&dims.window, &dims.indices_batch}) {
    for (int64_t& dim : *list) ++dim;
  }
  ++dims.index_vector_dim;
  return dims;
}

GatherDims batch_both(GatherDims dims) {
  shift_operand(dims);
  dims = batch_indices(std::move(dims));
  dims.operand_batch.insert(dims.operand_batch.begin(), 0);
  dims.indices_batch.insert(dims.indices_batch.begin(), 0);
  return dims;
}

GatherDims batch_operand(GatherDims dims) {
  shift_operand(dims);
  for (int64_t& dim : dims.window) ++dim;
  dims.window.insert(dims.window.begin(), 0);
  return dims;
}

}  // namespace pax
