// Records the calls of one process that change files below a folder, and fails chosen ones.
//
// The package contains only the text of the recorder's parts. The conformance suite compiles them, one after the other in
// one file, with PERSISTENCE_RECORDER into a shared library, and starts its worker process with LD_PRELOAD.
//
// PERSISTENCE_RECORD_ROOT  the folder, as a canonical path
// PERSISTENCE_RECORD_LOG   the file that receives the log
// PERSISTENCE_RECORD_FAIL  CLASS:FIRST:LAST:ERRNO, the calls to fail; LAST 0 means all later calls
#include "include/file_recorder.h"

extern const char persistence_file_recorder_log[], persistence_file_recorder_open[],
    persistence_file_recorder_content[], persistence_file_recorder_sync[], persistence_file_recorder_names[],
    persistence_file_recorder_start[];

const char *persistence_file_recorder_source(int part) {
  switch (part) {
    case 0: return persistence_file_recorder_log;
    case 1: return persistence_file_recorder_open;
    case 2: return persistence_file_recorder_content;
    case 3: return persistence_file_recorder_sync;
    case 4: return persistence_file_recorder_names;
    case 5: return persistence_file_recorder_start;
    default: return 0;
  }
}
