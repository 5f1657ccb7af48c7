// The source of the file recorder, which the conformance suite compiles into a library for its worker process.
//
// The recorder replaces the C library's file calls, so it must never be part of a program of an author. Only its text is
// linked here.
#ifndef FILE_RECORDER_H
#define FILE_RECORDER_H

/// A part of the recorder's C source, numbered from 0; NULL behind the last one, and empty where the platform cannot
/// preload libraries.
const char *_Nullable persistence_file_recorder_source(int part);

#endif
