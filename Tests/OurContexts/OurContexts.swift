import Foundation
package import PersistenceConformance
import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

extension ContextUnderTest {
  /// The engines of this package; add a new one here.
  private static let engines: [StorageEngine] = [.memory, .sqlite, .lmdb, .json]

  /// Every context of this package.
  package static let ours: [ContextUnderTest] = local + servers

  private static let local: [ContextUnderTest] = engines.filter { Environment.wants($0.scheme) }.map {
    engine in
    ContextUnderTest(
      engine: engine,
      // Little memory, so that building a few indexes takes several transactions.
      options: engine.scheme == "lmdb" ? ["indexmemory": "8KiB"] : [:],
      effort: Environment.isSoak ? .thorough : .quick,
      worker: .besideThisProgram("ContextWorker", arguments: [engine.scheme]))
  }

  /// Contexts of servers; none, said aloud, where no server is installed, except in CI, where they fail.
  private static let servers: [ContextUnderTest] = {
    #if Postgres
      guard Environment.wants("postgres") else { return [] }
      if let obstacle = PostgresCluster.obstacle, Environment["CI"] == nil {
        FileHandle.standardError.write(Data("warning: \(obstacle)\n".utf8))
        return []
      }
      return [.postgres]
    #else
      return []
    #endif
  }()

  /// Contexts whose stores have checksums, which is an option.
  package static let checked: [ContextUnderTest] = [StorageEngine.sqlite, .json]
    .filter { Environment.wants($0.scheme) }.map(checked)

  private static func checked(_ engine: StorageEngine) -> ContextUnderTest {
    let name = "\(engine.scheme) with checksums"
    let engine = ContextUnderTest(engine: engine, options: ["checksums": "true"])
    return ContextUnderTest(
      name, effort: Environment.isSoak ? .thorough : .quick,
      worker: .besideThisProgram("ContextWorker", arguments: [name])
    ) { path, options, monitoring in
      try engine.open(path, options, monitoring)
    }
  }
}
