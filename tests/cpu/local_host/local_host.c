/* A host like Python, Julia and Java: it opens the library with RTLD_LOCAL, and no symbol of the library, nor of those
 * it is linked with, can be found in the process. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    printf("not opened: %s\n", argc == 2 ? dlerror() : "usage: ricci_local_host LIBRARY");
    return 1;
  }
  int (*run)(void);
  *(void**)&run = dlsym(library, "ricci_local_host_run");
  const char* hidden[] = {"__truncdfhf2", "__extendhfsf2", "tan", "ricci_local_host_run"};
  for (unsigned i = 0; i < sizeof hidden / sizeof *hidden; ++i) {
    if (dlsym(RTLD_DEFAULT, hidden[i]) == NULL) continue;
    printf("%s is in the process: this host shows nothing\n", hidden[i]);
    return 1;
  }
  const int bad = run == NULL ? 1 : run();
  puts(bad == 0 ? "ok" : "failed");
  return bad;
}
