//===- CudaEvent.cpp - Order among streams --------------------------------===//

#include "runtime/cuda/CudaQueue.h"

namespace mlc::runtime::cuda {

namespace {

class CudaEvent final : public Event {
public:
  explicit CudaEvent(const Gpu &gpu) : gpu(gpu) {}
  ~CudaEvent() override {
    // Ignore errors in the destructor.
    (void)gpu.enter();
    if (event)
      (void)gpu.driver.cuEventDestroy_v2(event);
  }
  void *handle() const override { return event; }

  const Gpu &gpu;
  CUevent event = nullptr;
};

CUevent eventOf(const Event &event) {
  return static_cast<CUevent>(event.handle());
}

} // namespace

Status CudaQueue::makeEvent(std::unique_ptr<Event> &event) {
  auto made = std::make_unique<CudaEvent>(gpu);
  Status status = gpu.enter();
  if (status.ok())
    status = driver.check(
        driver.cuEventCreate(&made->event, CU_EVENT_DISABLE_TIMING),
        "cannot make an event");
  if (status.ok())
    event = std::move(made);
  return status;
}

Status CudaQueue::record(Event &event) {
  Status status = ready();
  return status.ok()
             ? driver.check(driver.cuEventRecord(eventOf(event), handle),
                            "cannot record an event")
             : status;
}

Status CudaQueue::waitFor(Event &event) {
  Status status = ready();
  return status.ok()
             ? driver.check(driver.cuStreamWaitEvent(handle, eventOf(event), 0),
                            "cannot wait for an event")
             : status;
}

} // namespace mlc::runtime::cuda
