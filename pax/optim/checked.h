#pragma once

#include "pax/config/errors.h"

namespace pax {

/// `config`, or one ConfigError with all its own complaints: what is built has been checked, whoever builds it.
template <class C>
const C& checked(const C& config) {
  config::Errors errors;
  config.validate(errors);
  errors.throw_if_any();
  return config;
}

}  // namespace pax
