import Foundation
import PersistenceConformance
import Testing

@Suite("Scratch folders")
struct ScratchFolderTests {
  @Test("the end of a check does not remove the folder of another check")
  func together() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 {
            let scratch = try ScratchFolder()
            defer { scratch.remove() }
            for medium in [ScratchFolder.Medium.fast, .disk] {
              let folder = try scratch.make("store", on: medium)
              #expect(FileManager.default.fileExists(atPath: folder.path))
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
