#include "pax/task/models/batch_fields.h"

#include "pax/base/error.h"

namespace pax {

Tensor optional_batch_field(const Tree<Tensor>& batch, std::string_view name) {
  const auto at = batch.find(name);
  return at == batch.end() ? Tensor() : at->second;
}

Tensor batch_field(const Tree<Tensor>& batch, std::string_view name) {
  if (const Tensor found = optional_batch_field(batch, name)) return found;
  std::string known;
  for (const auto& [field, value] : batch) known += (known.empty() ? "" : ", ") + field;
  fail<ShapeError>("batch: the model needs field \"{}\"; the input gives {}", name, known.empty() ? "none" : known);
}

Tensor batch_field(const Tree<Tensor>& batch, std::string_view name, std::string_view like) {
  const Tensor field = batch_field(batch, name);
  const Tensor other = batch_field(batch, like);
  if (field.shape() != other.shape()) {
    fail<ShapeError>("batch: field \"{}\" is {}, \"{}\" is {}; their shapes must be equal", name,
                     to_string(field.type()), like, to_string(other.type()));
  }
  return field;
}

}  // namespace pax
