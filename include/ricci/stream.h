/* ricci/stream.h: order in time on a device. A stream is work that is done in order; work of two streams is done in any
 * order and may overlap. An event is a point in a stream: the end of what was enqueued before it.
 *
 * Arrays need neither: each knows the runs that write and read it, so a run that uses it on another stream begins after
 * them, and a read on the host waits. Streams are for work that should overlap, and for hosts that have
 * streams of their own.
 *
 * On `ref` and `cpu` work is complete when the call that starts it returns: every event has completed. */
#ifndef RICCI_STREAM_H_
#define RICCI_STREAM_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_create(ricci_device* d,
                                                            ricci_stream** out RICCI_OWNED) RICCI_ANY_THREAD;
/* A stream of the host (CUstream), which must outlive the work that is enqueued to it here. NULL is the driver's
 * default stream. INVALID_ARGUMENT if it belongs to another context of the driver than that of the device. While the
 * host captures the stream, ricci_call_enqueue adds a run to what is captured, and all else that would enqueue to it is
 * FAILED_PRECONDITION. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_wrap(ricci_device* d, void* native RICCI_NULLABLE RICCI_KEPT(out),
                                                          ricci_stream** out RICCI_OWNED) RICCI_ANY_THREAD;
/* What the backend calls it (CUstream); NULL on `ref` and `cpu`. */
RICCI_API void* ricci_stream_native(const ricci_stream* s RICCI_NULLABLE) RICCI_BORROWED(s) RICCI_NULLABLE;
RICCI_API ricci_device* ricci_stream_device(const ricci_stream* s RICCI_NULLABLE) RICCI_BORROWED(s);
/* The end of all that was enqueued so far. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_record(ricci_stream* s, ricci_event** out RICCI_OWNED);
/* The same, and the device notes the time when it comes, for ricci_event_elapsed. UNIMPLEMENTED where devices note no
 * times. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_record_timed(ricci_stream* s, ricci_event** out RICCI_OWNED);
/* What is enqueued from now on begins after the event. The host waits only where the event is of another kind of
 * device. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_wait_event(ricci_stream* s, const ricci_event* e);
/* The same for what writes `a`: work of the host that is enqueued to `s` may read its data
 * (ricci_array_device_data), which must not be released or donated before that work has ended. A failure of the run
 * that writes `a` is returned only if it is known already. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_wait_array(ricci_stream* s, const ricci_array* a);
/* The host waits until the stream is empty. A failure of a run is not reported here but by its event and its
 * results. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_stream_synchronize(ricci_stream* s);
RICCI_API ricci_stream* ricci_stream_retain(ricci_stream* s RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;
/* Work that is under way goes on. */
RICCI_API void ricci_stream_release(ricci_stream* s RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;

/* Waits until the event has completed. The status is that of the run whose end it is, or of an earlier run whose
 * results that run used; each call makes a new one. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_event_wait(const ricci_event* e);
/* *come: whether it has completed. Does not wait, and says nothing about failures. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_event_query(const ricci_event* e, uint32_t* come);
/* *seconds: from `begin` to `end`, which ricci_stream_record_timed gave for streams of one device; by the clock of the
 * device, on `ref` and `cpu` by the host's. The host waits until both have completed. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_event_elapsed(const ricci_event* begin, const ricci_event* end,
                                                            double* seconds);
RICCI_API ricci_event* ricci_event_retain(ricci_event* e RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;
RICCI_API void ricci_event_release(ricci_event* e RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
