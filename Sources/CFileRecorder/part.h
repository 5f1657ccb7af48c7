// Makes the text of a source file a constant of the program, instead of its code.
#include <limits.h>

#if defined(__linux__) && defined(__GLIBC__) && __has_include(__FILE__)
#define PART(name)                                       \
  __asm__(                                               \
      ".pushsection .rodata\n"                           \
      ".global persistence_file_recorder_" #name "\n"    \
      "persistence_file_recorder_" #name ":\n"           \
      ".incbin \"" __FILE__ "\"\n"                       \
      ".byte 0\n"                                        \
      ".popsection\n");
#else
#define PART(name) const char persistence_file_recorder_##name[] = "";
#endif
