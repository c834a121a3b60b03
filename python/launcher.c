/* The program `hilo` of a wheel: its code is in the plugin, the library that lies one folder up. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 64);
  if (size <= 0) {
    fprintf(stderr, "hilo: cannot read /proc/self/exe, which says where the program is\n");
    return 2;
  }
  path[size] = 0;
  char* name = strrchr(path, '/') + 1;
  void* library = NULL;
  /* Installed, and in a build tree. */
  const char* const places[] = {"../libpjrt_hilo.so", "../lib/libpjrt_hilo.so"};
  for (int i = 0; i < 2 && library == NULL; ++i) {
    strcpy(name, places[i]);
    if (access(path, F_OK) == 0 || i == 1) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  int (*const hilo_main)(int, char**) = library == NULL ? NULL : (int (*)(int, char**))dlsym(library, "HiloMain");
  if (hilo_main == NULL) {
    fprintf(stderr, "hilo: cannot load the library that the program is in: %s\n", dlerror());
    return 2;
  }
  return hilo_main(argc, argv);
}
