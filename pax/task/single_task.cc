#include "pax/task/single_task.h"

namespace pax {

void SingleTask::validate(config::Errors& errors) const {
  if (!model) errors.add("model", "required; set the model that the task trains");
  if (!train.learner) errors.add("train.learner", "required; set how the task learns");
}

}  // namespace pax
