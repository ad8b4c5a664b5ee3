//===- CommunicatorOwn.cpp - The engine's own collectives -----------------===//

#include "runtime/transport/Communicator.h"

namespace mlc::runtime::transport {

Status Communicator::beginOwn(const std::string &name, const Request &request,
                              mlc_dtype type, void *data) {
  forgetProgram();
  launched = false;
  enter(name);
  mlc_status code = startOwn(request, type, data, nullptr);
  return code == MLC_OK ? Status::success() : leave(engineError(code));
}

Communicator::DeviceMessage Communicator::inPlace(const Request &request,
                                                  mlc_dtype type,
                                                  void *data) const {
  const std::vector<int64_t> parts = partsOf(request, rank());
  int64_t begin = 0;
  for (int before = 0; before < rank(); ++before)
    begin += parts[before];
  auto *all = static_cast<char *>(data);
  char *part = all + begin * static_cast<int64_t>(mlc_dtype_size(type));
  const rows::Row &row = rowOf(request.collective);
  return {request, row.input == rows::Part ? part : all,
          row.output == rows::Part ? part : all};
}

Status Communicator::begin(std::vector<DeviceMessage> messages, mlc_dtype type,
                           void *ready, void *done) {
  int64_t elements = 0;
  for (const DeviceMessage &message : messages) {
    if (Status status = checkRequest(message.request, rank()); !status.ok())
      return status;
    elements += message.request.elements;
  }
  forgetProgram();
  onDevice = true;
  entered = launched = false;
  owns.clear();
  deviceName = describe(messages.front().request, type);
  if (messages.size() > 1)
    deviceName += " and " + std::to_string(messages.size() - 1) + " more, " +
                  std::to_string(elements) + " in all";
  for (const DeviceMessage &message : messages) {
    const bool isLast = &message == &messages.back();
    const mlc_on_device there{message.input, message.output, ready,
                              isLast ? done : nullptr};
    mlc_status code = startOwn(message.request, type, nullptr, &there);
    if (code != MLC_OK) {
      onDevice = false;
      own = nullptr;
      enter(deviceName);
      return leave(engineError(code));
    }
    owns.push_back(own);
  }
  own = owns.front();
  return Status::success();
}

Status Communicator::run(std::vector<DeviceMessage> messages, mlc_dtype type) {
  bool done = false;
  Status status = begin(std::move(messages), type, nullptr, nullptr);
  return status.ok() ? complete(done) : status;
}

mlc_status Communicator::startOwn(const Request &request, mlc_dtype type,
                                  void *data, const mlc_on_device *there) {
  const std::vector<int64_t> parts = partsOf(request, rank());
  const bool isAllToAll = request.collective == Collective::AllToAll;
  const std::vector<int64_t> receives =
      isAllToAll ? receivedParts(request, rank()) : std::vector<int64_t>();
  const std::vector<size_t> sent(parts.begin(), parts.end());
  const std::vector<size_t> received(receives.begin(), receives.end());
  mlc_operation operation{};
  operation.kind = static_cast<mlc_collective>(request.collective);
  operation.reduction = request.reduction;
  operation.type = type;
  operation.element_size = mlc_dtype_size(type);
  operation.root = request.root;
  operation.elements = static_cast<size_t>(request.elements);
  operation.parts = sent.data();
  operation.receives = isAllToAll ? received.data() : nullptr;
  operation.on_device = there;
  return engine.collective(comm, &operation, data, &own);
}

Status Communicator::advanceOwn(int64_t nanoseconds, bool &done) {
  int over = 0;
  mlc_status code = engine.test(comm, own, nanoseconds, &over);
  if (code != MLC_OK || over)
    own = nullptr;
  if (code != MLC_OK)
    return engineError(code);
  launched =
      over || (engine.stage && (engine.stage(comm, own) & MLC_STAGE_QUEUED));
  done = moved = over;
  return over ? Status::success() : check();
}

/// Releases streams that wait for the collective. If that hangs, the watchdog
/// prints the message.
void Communicator::cancel(const Status &failure) {
  if (options.watchdog)
    options.watchdog->arm(
        this, std::chrono::seconds(3),
        [text = failure.message] { return text + "; the GPU does not go on"; });
  engine.cancel(comm);
}

/// A rank has arrived once its input is ready. Until then, others that wait
/// longer than the timeout name it as missing, and it does not time out itself.
Status Communicator::advanceOnDevice(int64_t nanoseconds, bool &done) {
  if (!entered && engine.stage(comm, own) & MLC_STAGE_READY) {
    entered = true;
    enter(deviceName);
  }
  int over = 0;
  mlc_status code = engine.test(comm, own, nanoseconds, &over);
  if ((code != MLC_OK || over) && !entered) {
    entered = true;
    enter(deviceName);
  }
  if (code != MLC_OK) {
    owns.clear();
    own = nullptr;
    return engineError(code);
  }
  if (over) {
    owns.pop_front();
    own = owns.empty() ? nullptr : owns.front();
    watch.progressed();
  }
  done = owns.empty();
  launched =
      launched || done || (engine.stage(comm, owns.back()) & MLC_STAGE_QUEUED);
  moved = over;
  return done || !entered ? Status::success() : check();
}

Status Communicator::finish() {
  int32_t come = 1;
  bool done = false;
  const Request request{Collective::AllReduce, Algorithm::Own, size(), 1};
  Status status = beginOwn("the end", request, MLC_I32, &come);
  return status.ok() ? complete(done) : status;
}

} // namespace mlc::runtime::transport
