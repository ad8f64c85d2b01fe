#include "pax/task/base_model.h"

namespace pax {

Tree<Tensor> BaseModel::decode(const Tree<Tensor>&) const { fail("this model does not decode"); }

std::unique_ptr<DecodeModel> BaseModel::decode_model() const { fail("this model does not write from a prompt alone"); }

}  // namespace pax
