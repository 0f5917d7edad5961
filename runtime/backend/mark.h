/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: events that say when a stream has reached a position, for trace points. */
#ifndef KMM__BACKEND_MARK_H
#define KMM__BACKEND_MARK_H

#include "backend/device.h"
#include "base/trace.h"

/* With or without locks: pushes the event, with the device's number, once all that is on the stream
 * now is done. The event's time is when the backend notifies of that, and its member `at` when it
 * was. The caller may use the stream. */
void kmm__stream_mark(kmm__device_t *d, kmm__stream_t *s, const kmm__event_t *event);

/* Waits until the notifications of all marks of the device have come, before its streams end. */
void kmm__marks_await(const kmm__device_t *d);

#endif
