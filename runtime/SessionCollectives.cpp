//===- SessionCollectives.cpp - Collectives in a run ----------------------===//
//
// A start hands a collective to the ranks (Ranks.h), which carry it out while
// later steps run; a wait blocks until it is over. For devices with their own
// memory, the ranks exchange host copies. If their engine works on device
// memory, they exchange the operands themselves: events order the queue and the
// engine's stream, and the host waits for neither. The status of such a
// collective is known after a wait for the queue (SharedStates::settle).
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"

namespace mlc::runtime {

/// Turns the arguments into messages and checks their bytes against the
/// buffers.
Status Session::planMessages(const Step &step, const int64_t *arg,
                             CollectiveCall &call, PlannedCollective &planned) {
  const rows::Row &row = rowOf(call.kind);
  if (row.hasNumber())
    call.number = *arg++;
  const uint64_t width = byteSize(call.type);
  const MeshAxis &axis = artifact->mesh()[call.axis];
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    CollectiveCall::Message message{*arg++};
    if (row.message == rows::Blocks)
      message.join = *arg++;
    if (row.message != rows::Elements)
      message.unit = *arg++;
    call.messages.push_back(message);
    MessageSize size;
    uint64_t input = 0, output = 0;
    Status status = tensorBytes(step.inputs[i], input);
    if (status.ok())
      status = tensorBytes(step.outputs[i], output);
    if (!status.ok())
      return status;
    if (!messageSize(call.kind, message, axis.size,
                     shared->coordinates()[call.axis], size) ||
        size.input * width != input || size.output * width != output)
      return Status::badFile("the program is damaged: a message of '" +
                             step.name + "' is not as large as its buffers");
    planned.messages.push_back({input, output, {}, {}});
  }
  return Status::success();
}

Status Session::prepareStart(const Step &step, const StartStep &start,
                             EpochPlan &plan, ReadyStep &ready) {
  CollectiveCall call;
  call.kind = CollectiveKind(start.collective);
  call.reduction = ReductionKind(start.reduction);
  call.algorithm = start.algorithm;
  call.axis = start.axis;
  call.turn = turns[start.ticket];
  call.type = program.buffers[step.inputs[0]].type;
  auto planned = std::make_unique<PlannedCollective>();
  Status status =
      planMessages(step, plan.args.data() + ready.firstArg, call, *planned);
  // Without ranks nothing can run, but memory can be planned.
  Ranks *ranks = shared->ranks();
  if (status.ok() && ranks)
    status = ranks->prepare(artifact->mesh(), call, planned->prepared);
  if (!status.ok()) {
    if (!step.nodes.empty())
      status.message = "node '" + step.nodes[0] + "': " + status.message;
    return status;
  }
  const bool isOnGpu = ranks && planned->prepared->canBeOnGpu &&
                       device.gpu() == ranks->gpu() && queue->hasEvents();
  if (isOnGpu) {
    status = queue->makeEvent(planned->ready);
    if (status.ok())
      status = queue->makeEvent(planned->done);
  } else if (!device.usesHostMemory()) {
    status = reserveCopies(*planned);
  }
  planned->inputs.resize(step.inputs.size());
  planned->outputs.resize(step.outputs.size());
  ready.collective = plan.collectives.size();
  plan.collectives.push_back(std::move(planned));
  return status;
}

Status Session::reserveCopies(PlannedCollective &planned) {
  Status status;
  bool grown;
  for (PlannedCollective::Message &message : planned.messages) {
    if (status.ok())
      status = message.input.reserve(message.inputBytes, grown);
    if (status.ok())
      status = message.output.reserve(message.outputBytes, grown);
  }
  return status;
}

Status Session::runStart(const Step &step, const StartStep &start,
                         EpochPlan &plan, const ReadyStep &ready) {
  PlannedCollective &planned = *plan.collectives[ready.collective];
  void *const *operands = plan.pointers.data() + ready.firstOperand;
  size_t count = step.inputs.size();
  bool isHere = device.usesHostMemory() || planned.ready;
  // It may be unsettled from an earlier enqueued run.
  if (shared->isUnsettled(*planned.prepared))
    if (Status status = shared->settle(); !status.ok())
      return status;
  for (size_t i = 0; i < count; ++i) {
    PlannedCollective::Message &message = planned.messages[i];
    planned.inputs[i] = operands[i];
    planned.outputs[i] = operands[count + i];
    if (isHere)
      continue;
    // If the operands are in place, so are the host copies.
    bool isSame = operands[i] == operands[count + i];
    Memory &from = isSame ? message.output : message.input;
    planned.inputs[i] = from.data();
    planned.outputs[i] = message.output.data();
    if (message.inputBytes)
      if (Status status =
              queue->download(from.data(), operands[i], message.inputBytes);
          !status.ok())
        return status;
  }
  if (planned.ready) {
    if (Status status = queue->record(*planned.ready); !status.ok())
      return status;
    shared->ranks()->startOnGpu(*planned.prepared, planned.inputs.data(),
                                planned.outputs.data(), planned.ready->handle(),
                                planned.done->handle());
  } else {
    shared->ranks()->start(*planned.prepared, planned.inputs.data(),
                           planned.outputs.data());
  }
  underWay[start.ticket] = &planned;
  return Status::success();
}

Status Session::runWait(const Step &step, const WaitStep &wait, EpochPlan &plan,
                        const ReadyStep &ready) {
  PlannedCollective *planned = underWay[wait.ticket];
  underWay[wait.ticket] = nullptr;
  if (planned->ready) {
    shared->noteUnsettled(*planned->prepared);
    Status status = shared->ranks()->waitUntilQueued(*planned->prepared);
    return status.ok() ? queue->waitFor(*planned->done) : status;
  }
  Status status = shared->ranks()->wait(*planned->prepared);
  void *const *operands =
      plan.pointers.data() + ready.firstOperand + step.inputs.size();
  if (!device.usesHostMemory())
    for (size_t i = 0; status.ok() && i < step.outputs.size(); ++i)
      if (uint64_t bytes = planned->messages[i].outputBytes)
        status = queue->upload(operands[i], planned->messages[i].output.data(),
                               bytes);
  return status;
}

/// After a failure, waits for collectives that still use the plan's memory.
void Session::drainCollectives() {
  for (PlannedCollective *&planned : underWay) {
    if (planned)
      (void)shared->ranks()->wait(*planned->prepared);
    planned = nullptr;
  }
}

} // namespace mlc::runtime
