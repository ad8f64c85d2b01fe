#include "pax/pjrt/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "pax/pjrt/api.h"
#include "pax/pjrt/client.h"

namespace pax {
namespace {

constexpr size_t kAlignment = 64;

/// Memory that is about to be written whole.
std::shared_ptr<std::byte> allocate(size_t size) {
  const size_t rounded = std::max<size_t>(1, (size + kAlignment - 1) / kAlignment) * kAlignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) fail<RuntimeError>("out of memory: {} bytes for a copy from the device", size);
  return {memory, [](std::byte* owned) { std::free(owned); }};
}

std::vector<int64_t> row_major(int64_t rank) {
  std::vector<int64_t> minor_to_major;
  for (int64_t dim = rank - 1; dim >= 0; --dim) minor_to_major.push_back(dim);
  return minor_to_major;
}

}  // namespace

struct Buffer::State {
  std::shared_ptr<const Client> client;
  PJRT_Buffer* buffer;

  const Plugin& plugin() const { return *client->plugin(); }
  ~State() {
    PJRT_Buffer_Destroy_Args args{.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE, .buffer = buffer};
    call_quietly(plugin(), &PJRT_Api::PJRT_Buffer_Destroy, args);
  }
};

struct HostCopy::State {
  std::shared_ptr<const Client> client;
  HostArray array;
  Event event;

  // The device writes into the array until the event is ready.
  ~State() {
    try {
      event.wait();
    } catch (const PluginError&) {
    }
  }
};

bool HostCopy::ready() const { return state_->event.ready(); }

HostArray HostCopy::wait() const {
  state_->event.wait();
  return state_->array;
}

Buffer::Buffer(std::shared_ptr<const Client> client, PJRT_Buffer* buffer)
    : state_(new State{std::move(client), buffer}) {}

PJRT_Buffer* Buffer::get() const { return state_ == nullptr ? nullptr : state_->buffer; }

TensorType Buffer::type() const {
  PJRT_Buffer_ElementType_Args element{.struct_size = PJRT_Buffer_ElementType_Args_STRUCT_SIZE, .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_ElementType, "PJRT_Buffer_ElementType", element);
  PJRT_Buffer_Dimensions_Args dims{.struct_size = PJRT_Buffer_Dimensions_Args_STRUCT_SIZE, .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_Dimensions, "PJRT_Buffer_Dimensions", dims);
  return {from_buffer_type(element.type), Shape(std::span<const int64_t>(dims.dims, dims.num_dims))};
}

size_t Buffer::size_bytes() const {
  PJRT_Buffer_OnDeviceSizeInBytes_Args args{.struct_size = PJRT_Buffer_OnDeviceSizeInBytes_Args_STRUCT_SIZE,
                                            .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_OnDeviceSizeInBytes, "PJRT_Buffer_OnDeviceSizeInBytes", args);
  return args.on_device_size_in_bytes;
}

int64_t Buffer::device_index() const {
  PJRT_Buffer_Device_Args args{.struct_size = PJRT_Buffer_Device_Args_STRUCT_SIZE, .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_Device, "PJRT_Buffer_Device", args);
  return state_->client->local_index(args.device);
}

HostCopy Buffer::copy_to_host() const {
  const TensorType type = this->type();
  const size_t size = static_cast<size_t>(type.shape.num_elements()) * byte_size(type.dtype);
  std::shared_ptr<std::byte> memory = allocate(size);

  const std::vector<int64_t> order = row_major(type.shape.rank());
  PJRT_Buffer_MemoryLayout layout{.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE};
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled = PJRT_Buffer_MemoryLayout_Tiled{.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                                                .minor_to_major = order.data(),
                                                .minor_to_major_size = order.size()};
  PJRT_Buffer_ToHostBuffer_Args args{.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                     .src = get(),
                                     .host_layout = &layout,
                                     .dst = memory.get(),
                                     .dst_size = size};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_ToHostBuffer, "PJRT_Buffer_ToHostBuffer", args);

  HostCopy copy;
  copy.state_ = std::make_shared<const HostCopy::State>(
      HostCopy::State{state_->client, HostArray(type, std::move(memory)), Event(state_->client->plugin(), args.event)});
  return copy;
}

HostArray Buffer::view_on_host() const {
  const Plugin& plugin = state_->plugin();
  const TensorType type = this->type();
  PJRT_Buffer_IsOnCpu_Args on_cpu{.struct_size = PJRT_Buffer_IsOnCpu_Args_STRUCT_SIZE, .buffer = get()};
  call(plugin, &PJRT_Api::PJRT_Buffer_IsOnCpu, "PJRT_Buffer_IsOnCpu", on_cpu);
  PJRT_Buffer_GetMemoryLayout_Args layout{.struct_size = PJRT_Buffer_GetMemoryLayout_Args_STRUCT_SIZE, .buffer = get()};
  call(plugin, &PJRT_Api::PJRT_Buffer_GetMemoryLayout, "PJRT_Buffer_GetMemoryLayout", layout);
  const PJRT_Buffer_MemoryLayout_Tiled& tiled = layout.layout.tiled;
  const bool plain = layout.layout.type == PJRT_Buffer_MemoryLayout_Type_Tiled && tiled.num_tiles == 0 &&
                     std::ranges::equal(row_major(type.shape.rank()),
                                        std::span<const int64_t>(tiled.minor_to_major, tiled.minor_to_major_size)) &&
                     type.dtype != DType::kS4 && type.dtype != DType::kU4;
  if (!on_cpu.is_on_cpu || !plain) return to_host();

  wait();
  PJRT_Buffer_IncreaseExternalReferenceCount_Args hold{
      .struct_size = PJRT_Buffer_IncreaseExternalReferenceCount_Args_STRUCT_SIZE, .buffer = get()};
  call(plugin, &PJRT_Api::PJRT_Buffer_IncreaseExternalReferenceCount, "PJRT_Buffer_IncreaseExternalReferenceCount",
       hold);
  std::shared_ptr<State> held(state_.get(), [state = state_](State*) {
    PJRT_Buffer_DecreaseExternalReferenceCount_Args release{
        .struct_size = PJRT_Buffer_DecreaseExternalReferenceCount_Args_STRUCT_SIZE, .buffer = state->buffer};
    call_quietly(state->plugin(), &PJRT_Api::PJRT_Buffer_DecreaseExternalReferenceCount, release);
  });
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args pointer{
      .struct_size = PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args_STRUCT_SIZE, .buffer = get()};
  call(plugin, &PJRT_Api::PJRT_Buffer_OpaqueDeviceMemoryDataPointer, "PJRT_Buffer_OpaqueDeviceMemoryDataPointer",
       pointer);
  return HostArray(type, std::shared_ptr<const std::byte>(std::move(held),
                                                          static_cast<const std::byte*>(pointer.device_memory_ptr)));
}

Buffer Buffer::copy_to_device(int64_t device_index) const {
  PJRT_Buffer_CopyToDevice_Args args{.struct_size = PJRT_Buffer_CopyToDevice_Args_STRUCT_SIZE,
                                     .buffer = get(),
                                     .dst_device = state_->client->local_device(device_index).handle};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_CopyToDevice, "PJRT_Buffer_CopyToDevice", args);
  return Buffer(state_->client, args.dst_buffer);
}

Event Buffer::ready_event() const {
  PJRT_Buffer_ReadyEvent_Args args{.struct_size = PJRT_Buffer_ReadyEvent_Args_STRUCT_SIZE, .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_ReadyEvent, "PJRT_Buffer_ReadyEvent", args);
  return Event(state_->client->plugin(), args.event);
}

void Buffer::delete_now() {
  PJRT_Buffer_Delete_Args args{.struct_size = PJRT_Buffer_Delete_Args_STRUCT_SIZE, .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_Delete, "PJRT_Buffer_Delete", args);
}

bool Buffer::deleted() const {
  PJRT_Buffer_IsDeleted_Args args{.struct_size = PJRT_Buffer_IsDeleted_Args_STRUCT_SIZE, .buffer = get()};
  call(state_->plugin(), &PJRT_Api::PJRT_Buffer_IsDeleted, "PJRT_Buffer_IsDeleted", args);
  return args.is_deleted;
}

}  // namespace pax
