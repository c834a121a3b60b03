// Static objects of libhilo and of the PJRT plugin, those of the LLVM in them included, are never destroyed: threads
// may be compiling while the process exits. Both are linked with --wrap=__cxa_atexit (cmake/HiloLayer.cmake).

// What static objects with destructors are registered with.
extern "C" int __wrap___cxa_atexit(void (* /*destructor*/)(void*), void* /*object*/, void* /*library*/) { return 0; }
