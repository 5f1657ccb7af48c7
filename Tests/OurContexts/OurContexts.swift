package import PersistenceConformance
import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

extension ContextUnderTest {
  /// The engines of this package; add a new one here.
  private static let engines: [StorageEngine] = [.memory, .sqlite, .lmdb, .json]

  /// Every context of this package.
  package static let ours: [ContextUnderTest] = engines.filter { Environment.wants($0.scheme) }.map {
    engine in
    ContextUnderTest(
      engine: engine,
      // Little memory, so that building a few indexes takes several transactions.
      options: engine.scheme == "lmdb" ? ["indexmemory": "8KiB"] : [:],
      effort: Environment.isSoak ? .thorough : .quick,
      worker: .besideThisProgram("ContextWorker", arguments: [engine.scheme]))
  }
}
