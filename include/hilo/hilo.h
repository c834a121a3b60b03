// All of Hilo's C++ interface (docs/api.md).
#ifndef HILO_HILO_H_
#define HILO_HILO_H_

#include "hilo/client.h"
#include "hilo/collectives.h"
#include "hilo/executable.h"
#include "hilo/export.h"
#include "hilo/ffi.h"
#include "hilo/host.h"
#include "hilo/literal.h"
#include "hilo/module.h"
#include "hilo/npy.h"
#include "hilo/primitive_type.h"
#include "hilo/shape.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"
#include "hilo/xla_builder.h"
#include "hilo/xla_data.h"

#endif  // HILO_HILO_H_
