/// One recorded file call of the worker process, in the order of the calls.
///
/// Paths are bytes relative to the store's folder, because names of files need not be valid text.
enum FileEvent {
  typealias Path = [UInt8]

  /// A file or folder got a number, which later events use.
  case open(UInt32, Path, isCreated: Bool, isTruncated: Bool, isUnnamed: Bool)
  case write(UInt32, offset: Int, bytes: [UInt8], isSynced: Bool)
  case resize(UInt32, size: Int)
  case sync(UInt32, hasFailed: Bool)
  case syncAll
  case rename(Path, to: Path)
  case link(Path, to: Path)
  case linkOpen(UInt32, to: Path)
  case unlink(Path)
  case makeFolder(Path)
  case makeLink(Path, destination: [UInt8])
  /// A line that the worker printed.
  case mark(String)
  /// A file was mapped into memory, shared and writable, so its content changes without calls.
  case map(UInt32)
  /// The recorder failed the n-th call of a class.
  case fault(FileFault.Calls, number: Int, code: Int32)
  /// The number of calls of a class until the process ended.
  case count(FileFault.Calls, Int)
  /// A call whose effect the model does not know.
  case unknown(String)
}
