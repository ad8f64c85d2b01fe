#include "pax/task/base_model.h"

namespace pax {

Tree<Tensor> BaseModel::decode(const Tree<Tensor>&) const { fail("this model does not decode"); }

}  // namespace pax
