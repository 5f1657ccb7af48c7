import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite
import Testing

@Suite("Guide: Changing your models, big stores")
final class BigStoreTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test("an index of a large model waits until it is built in the background", arguments: ["sqlite", "lmdb"])
  func waiting(scheme: String) async throws {
    let url = "\(scheme):\(folder.appendingPathComponent(scheme).path)"
    do {
      let before = try Repository(opening: url, engines: [.sqlite, .lmdb, .json], schema: Before.self)
      try before.save(
        contentsOf: (1...5_001).map {
          Before.Screening(id: $0, cinema: "Rex", seats: 1, price: Float($0 % 50), subtitle: nil)
        })
      try before.close()
    }
    let schema = After.self
    let repository = try Repository(opening: url, engines: [.sqlite, .lmdb, .json], schema: schema) {
      print("\($0.phase) \($0.model): \($0.done) of \($0.total)")
    }
    #expect(try repository.unfinishedIndexes() == ["Screening": [["price"]]])
    #expect(try repository.filter(After.Screening.self, where: \.price == 7).result().count == 100)
    let building = Task.detached(priority: .background) {
      try repository.finishIndexes { print("\($0.model): \($0.done) of \($0.total)") }
    }
    try await building.value
    #expect(try repository.unfinishedIndexes().isEmpty)
    #expect(try repository.filter(After.Screening.self, where: \.price == 7).result().count == 100)
    try repository.close()
  }
}
