#include "pax/pjrt/event.h"

#include "pax/pjrt/api.h"

namespace pax {

Event::Event(std::shared_ptr<const Plugin> plugin, PJRT_Event* event)
    : plugin_(plugin), event_(event, [plugin](PJRT_Event* owned) {
        PJRT_Event_Destroy_Args args{.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE, .event = owned};
        call_quietly(*plugin, &PJRT_Api::PJRT_Event_Destroy, args);
      }) {}

bool Event::ready() const {
  if (event_ == nullptr) return true;
  PJRT_Event_IsReady_Args args{.struct_size = PJRT_Event_IsReady_Args_STRUCT_SIZE, .event = event_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Event_IsReady, "PJRT_Event_IsReady", args);
  return args.is_ready;
}

void Event::wait() const {
  if (event_ == nullptr) return;
  PJRT_Event_Await_Args args{.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE, .event = event_.get()};
  call(*plugin_, &PJRT_Api::PJRT_Event_Await, "PJRT_Event_Await", args);
}

}  // namespace pax
