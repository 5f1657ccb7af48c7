// What the C library has for Linux file systems but its module for Swift does not export.
#ifndef C_FILE_SYSTEM_H
#define C_FILE_SYSTEM_H
#ifdef __linux__
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int syncfs(int descriptor);
enum { C_F_OFD_GETLK = 36, C_F_OFD_SETLK = 37 };
/* From <linux/fs.h>, which declares some names of <sys/mount.h> again. */
enum { C_FS_NOCOW_FL = 0x00800000 };
#define C_FS_IOC_GETFLAGS _IOR('f', 1, long)
#define C_FS_IOC_SETFLAGS _IOW('f', 2, long)

/* Makes writes to a file on btrfs replace its blocks, which must be done while the file is empty.

   By default, btrfs writes changes to new blocks, also those of mapped pages that had blocks before, and ends the
   process if the disk is full (see ioctl_iflags(2), FS_NOCOW_FL). Where it cannot be done, nothing changes. */
static inline void c_replace_blocks(int descriptor) {
  struct statfs disk;
  struct stat status;
  int flags = 0;
  if (fstatfs(descriptor, &disk) != 0 || disk.f_type != BTRFS_SUPER_MAGIC) return;
  if (fstat(descriptor, &status) != 0 || status.st_size != 0) return;
  if (ioctl(descriptor, C_FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= C_FS_NOCOW_FL;
  (void)ioctl(descriptor, C_FS_IOC_SETFLAGS, &flags);
}
#endif
#endif
