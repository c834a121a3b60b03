// HILO_EXPORT marks what the shared library exports.
#ifndef HILO_EXPORT_H_
#define HILO_EXPORT_H_

#if defined(__GNUC__)
#define HILO_EXPORT __attribute__((visibility("default")))
#else
#define HILO_EXPORT
#endif

#endif  // HILO_EXPORT_H_
