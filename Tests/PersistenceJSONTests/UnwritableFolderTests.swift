import Foundation
import PersistenceDriver
import PersistenceJSON
import Testing

/// Folders of models into which no file can be moved (contract W5, E5).
struct UnwritableFolderTests {
  /// Whether a user without permissions may make stores.
  private static let isPossible: Bool = {
    var status = stat()
    return getuid() != 0
      || stat(NSTemporaryDirectory(), &status) == 0 && status.st_mode & mode_t(S_IWOTH) != 0
  }()

  @Test(
    "W5 E5 a commit to a folder without permission is refused before its commit point, and leaves nothing",
    .enabled(if: isPossible, "temporary files of other users"))
  func permission() async {
    await #expect(processExitsWith: .success) {
      // The superuser may write everywhere.
      try #require(getuid() != 0 || setgid(65534) == 0 && setuid(65534) == 0)
      let place = try TemporaryStore()
      let context = try place.open()
      let other = Films.make("Other")
      try context.save(Films.row(1, "One"), Films.row(2, "Two"))
      try #require(chmod("\(place.path)/\(Films.folder)", 0o555) == 0)
      let changes: [(any StorageTransaction) throws -> Void] = [
        { try $0.save(Films.row(1, "Uno")) }, { try $0.insert(Films.row(3, "Three")) },
        { _ = try $0.delete(Films.key(2), in: Films.schema) },
      ]
      for change in changes {
        let error = try #require(throws: PersistenceError.self) { try context.transaction(change) }
        #expect(error.code == .accessDenied && error.message.contains(Films.folder), "\(error)")
        #expect(try place.names(".persistence/journal") == [] && place.names(".persistence/stage") == [])
        #expect(try context.titles() == ["One", "Two"])
      }
      try context.save(Films.row(9, "Nine"), in: other)
      #expect(try place.open().titles() == ["One", "Two"])
      try #require(chmod("\(place.path)/\(Films.folder)", 0o755) == 0)
      for change in changes { try context.transaction(change) }
      #expect(try context.titles() == ["Uno", "Three"])
    }
  }
}
