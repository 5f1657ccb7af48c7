// What the C library has for Linux file systems but its module for Swift does not export.
#ifndef C_FILE_SYSTEM_H
#define C_FILE_SYSTEM_H
#ifdef __linux__
int syncfs(int descriptor);
enum { C_F_OFD_GETLK = 36, C_F_OFD_SETLK = 37 };
#endif
#endif
