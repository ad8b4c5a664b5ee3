//===- Stream.cpp - Streams and events ------------------------------------===//

#include "runtime/emulator/Driver.h"
#include "runtime/emulator/Finding.h"

#include <utility>

using namespace mlc::emulator;

void CUstream_st::runNext() {
  std::function<CUresult()> next = std::move(work.front());
  work.pop_front();
  isBusy = true;
  CUresult result = next();
  isBusy = false;
  if (result != CUDA_SUCCESS) {
    if (!error)
      error = result;
    work.clear();
  }
  driver.progress.notify_all();
}

void CUstream_st::run() {
  while (isBusy || !work.empty())
    if (isBusy)
      driver.progress.wait(driver.mutex);
    else
      runNext();
}

CUresult CUstream_st::takeError() { return std::exchange(error, CUDA_SUCCESS); }

void Driver::runAll() {
  // Streams may be added and removed while the lock is released.
  const std::vector<CUstream> all(streams.begin(), streams.end());
  for (CUstream stream : all)
    if (streams.count(stream))
      stream->run();
}

CUresult Driver::submit(CUstream stream, std::function<CUresult()> work) {
  if (stream) {
    if (stream->capture && !stream->capture->isValid)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture)
      stream->capture->graph.work.push_back(std::move(work));
    else
      stream->work.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  // The default stream waits for all others, and vice versa.
  runAll();
  CUstream_st &last = currentContext->defaultStream;
  last.work.push_back(std::move(work));
  last.run();
  return last.takeError();
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  MLC_CALL(Context);
  if (!stream || flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  *stream = new CUstream_st{currentContext, {}, 0, nullptr};
  driver.streams.insert(*stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  MLC_CALL(Context);
  if (!driver.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture)
    addToReport("mlc emulator: a stream is destroyed while it is captured\n");
  stream->run();
  CUresult error = stream->takeError();
  driver.streams.erase(stream);
  delete stream;
  return error;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  MLC_CALL(Context);
  if (!driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  *context = stream ? stream->context : currentContext;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  MLC_CALL(Context);
  if (!driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream) {
    if (stream->capture) {
      stream->capture->isValid = false;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    stream->run();
    return stream->takeError();
  }
  driver.runAll();
  CUresult first = CUDA_SUCCESS;
  for (CUstream each : driver.streams) {
    CUresult error = each->takeError();
    if (!first)
      first = error;
  }
  return first;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  MLC_CALL(Context);
  if (!event || flags > 3)
    return CUDA_ERROR_INVALID_VALUE;
  *event = new CUevent_st{currentContext, nullptr};
  driver.events.insert(*event);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  MLC_CALL(Context);
  if (!driver.events.erase(event))
    return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  MLC_CALL(Context);
  if (!driver.events.count(event) || !driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  auto record = std::make_shared<CUevent_st::Record>();
  record->stream = stream;
  event->last = record;
  return driver.submit(stream, [record] {
    record->done = true;
    record->time = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  MLC_CALL(Context);
  if (!driver.isStream(stream) || !driver.events.count(event))
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<CUevent_st::Record> record = event->last;
  // A capture that extends to other streams is not emulated.
  if ((stream && stream->capture) ||
      (record && driver.streams.count(record->stream) &&
       record->stream->capture))
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  // Work before an event was queued earlier, so waits cannot form cycles.
  return driver.submit(stream, [record] {
    while (record && !record->done && driver.streams.count(record->stream)) {
      CUstream_st &other = *record->stream;
      if (other.isBusy)
        driver.progress.wait(driver.mutex);
      else if (!other.work.empty())
        other.runNext();
      else
        break;
    }
    return CUDA_SUCCESS;
  });
}

/// As in CUDA, the function must not call CUDA, but may wait for other threads
/// that do.
CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *),
                          void *data) {
  MLC_CALL(Context);
  if (!driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  return driver.submit(stream, [function, data] {
    driver.mutex.unlock();
    function(data);
    driver.mutex.lock();
    return CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent event) {
  MLC_CALL(Context);
  if (!driver.events.count(event))
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->last && driver.streams.count(event->last->stream) &&
      event->last->stream->capture)
    return CUDA_ERROR_CAPTURED_EVENT;
  return !event->last || event->last->done ? CUDA_SUCCESS
                                           : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  MLC_CALL(Context);
  if (!driver.events.count(event))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!event->last || event->last->done)
    return CUDA_SUCCESS;
  // A destroyed stream has finished its work.
  CUstream stream = event->last->stream;
  if (!driver.streams.count(stream))
    return CUDA_ERROR_LAUNCH_FAILED;
  if (stream->capture)
    return CUDA_ERROR_CAPTURED_EVENT;
  stream->run();
  return stream->takeError();
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  MLC_CALL(Context);
  if (!driver.events.count(start) || !driver.events.count(end) ||
      !start->last || !end->last)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (!start->last->done || !end->last->done)
    return CUDA_ERROR_NOT_READY;
  std::chrono::duration<float, std::milli> took =
      end->last->time - start->last->time;
  *milliseconds = took.count();
  return CUDA_SUCCESS;
}
