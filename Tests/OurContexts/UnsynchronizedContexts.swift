package import PersistenceConformance
import PersistenceCore
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

extension ContextUnderTest {
  /// Our engines with less durability than the default: a loss of power undoes acknowledged transactions.
  package static let unsynchronized: [ContextUnderTest] = [
    unsynchronized(.sqlite, ["synchronous": "off"]), unsynchronized(.sqlite, ["synchronous": "normal"]),
    unsynchronized(.lmdb, ["sync": "off"]), unsynchronized(.lmdb, ["sync": "last"]),
    unsynchronized(.json, ["synchronous": "off"]),
  ]

  private static func unsynchronized(_ engine: StorageEngine, _ options: [String: String]) -> ContextUnderTest
  {
    let name = "\(engine.scheme) with " + options.map { "\($0.key)=\($0.value)" }.joined()
    let context = ContextUnderTest(engine: engine, options: options)
    return ContextUnderTest(name, worker: .besideThisProgram("ContextWorker", arguments: [name])) {
      path, options, monitoring in
      try context.open(path, options, monitoring)
    }
  }
}
