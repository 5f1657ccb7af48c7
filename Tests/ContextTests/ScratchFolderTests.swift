import Foundation
import PersistenceConformance
import Testing

@Suite("Folders of checks")
struct ScratchFolderTests {
  @Test("a check that ends does not take away the folder that another one is about to use")
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
