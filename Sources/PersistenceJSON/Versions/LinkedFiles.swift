import Foundation
import PersistenceDriver

/// The files that processes share, while a copy of the store's folder has hard links to them.
///
/// Both stores would write the same version numbers, which are about the files of one of them.
struct LinkedFiles {
  private static let names = [VersionSequence.name, VersionPins.name, WriterLock.name]

  let control: Folder
  let location: String

  /// Replaces each linked file by a copy of its own.
  ///
  /// - Throws: ``PersistenceError`` with code `unsupported` while a context of either store is open, since it would go on
  ///   with the old files.
  func separate(timeout: Duration) throws {
    while try Self.names.contains(where: isLinked) {
      guard let file = try control.open(WriterLock.name, O_RDWR | O_CREAT) else { return }
      let identity = try file.identity()
      let lock = WriterLock(file)
      try lock.withOpening(mayRecover: true, timeout: timeout, location: location) {
        // Another opening may have replaced it.
        guard try file.isStill(identity, in: control) else { return }
        guard try !lock.whileUnused(replace) else { return }
        throw PersistenceError(
          .unsupported,
          "a copy of the store has hard links to its files in \(StoreFolder.controlName), and a context of the store or of "
            + "the copy is open; close it, or copy \(Self.names.joined(separator: ", ")) in the copy without links",
          location: location)
      }
    }
  }

  private func isLinked(_ name: String) throws -> Bool { try status(ofLinked: name) != nil }

  /// The status of a file; nil if there is none, or it has one name only.
  private func status(ofLinked name: String) throws -> stat? {
    var status = stat()
    if fstatat(control.descriptor, name, &status, 0) == 0 { return status.st_nlink > 1 ? status : nil }
    if errno == ENOENT { return nil }
    throw SystemFailure("look at the file", control.path(of: name))
  }

  /// The lock comes last: openings that wait for the old one find the other files in place.
  private func replace() throws {
    for name in Self.names {
      guard let old = try status(ofLinked: name), let content = try control.read(name) else { continue }
      let new = name + ".new"
      // It may be a leftover that has links too.
      try control.remove(new)
      try control.write(content, to: new, synchronized: true)
      // Only the superuser can keep another owner.
      _ = fchownat(control.descriptor, new, old.st_uid, old.st_gid, 0)
      guard fchmodat(control.descriptor, new, old.st_mode & 0o777, 0) == 0 else {
        throw SystemFailure("set the permissions of the file", control.path(of: new))
      }
      _ = try control.move(new, to: control, as: name)
    }
  }
}
