#pragma once

#include "pax/interop/maxtext/settings.h"
#include "pax/task/base_model.h"

namespace pax::maxtext {

/// The model that the settings describe, without its mesh. What cannot be said here goes into `errors` by key.
Tpl<BaseModel> model_of(const Settings& settings, config::Errors& errors);

}  // namespace pax::maxtext
