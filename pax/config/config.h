#pragma once

// Typed configs. A config is a plain struct with defaults in place and one list of its members; from that list come
// YAML, overrides by path, diff, checks, schema and documentation.
//
//   class FeedForward final : public Layer {
//    public:
//     struct Config : LayerConfig {                                     // a base with shared members, if wanted
//       using Product = FeedForward;                                    // what is built; leave out for plain records
//       static constexpr std::string_view kName = "praxis.layers.FeedForward";
//       static constexpr std::string_view kDoc = "Linear, bias, activation.";  // optional, as is an array kAliases
//       Required<int64_t> input_dims{};                                 // no default is right
//       int64_t output_dims = 0;
//       std::optional<double> clip{};
//       Tpl<Layer> activation_tpl = ReLU::Config{};                     // any config whose Product implements Layer
//       static void fields(auto& self, auto&& visit) {
//         LayerConfig::fields(self, visit);
//         visit("input_dims", self.input_dims, "Size of the last axis of the input.");
//         visit("output_dims", self.output_dims, {.doc = "…", .min = 0});
//         visit("clip", self.clip);
//         visit("activation_tpl", self.activation_tpl);
//       }
//       void validate(config::Errors& errors) const;                    // optional: checks across members
//     };
//     FeedForward(const Config& config, Scope scope);
//   };
//   Tpl<Layer> ffn = FeedForward::Config{.input_dims = 8};
//   Tpl<Layer> mine = ffn.clone();                                      // copies of a handle share, clones do not
//   mine.set("output_dims", 16);                                        // by name, whatever the class
//   std::shared_ptr<Layer> layer = mine.build(scope.child("ffn"));
//
// Members may be bool, integers, double, std::string, enums with `enum_names`, records, Tpl, Value, and std::optional,
// Required, std::vector, std::array, std::map<std::string, …>, std::variant of those.
// A header that many files include says after its class `extern template const config::ConfigType&
// config::type_of<FeedForward::Config>();`, and its source the same without `extern`: that saves compile time. The same
// with config::field_type<T> for elaborate types of members.
// Headers beside this one: registry.h, yaml.h (print, parse, update), paths.h (overrides), compare.h (diff, find),
// check.h (validate), sharing.h, schema.h.

#include "pax/config/errors.h"
#include "pax/config/field.h"
#include "pax/config/ref.h"
#include "pax/config/tpl.h"
#include "pax/config/value.h"
