import PersistenceCore
import PersistenceLMDB
import PersistenceMigration
import PersistenceSQLite

/// This library's migration, as apps and the tool start it, without verification, because the other
/// contenders do not verify.
struct LibraryCopying {
  private let folder: Folder

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    for engine in [Engine.sqlite, .lmdb] {
      let store = try Self.open(engine, folder.path("source-\(engine)"))
      try Repository(store).insert(contentsOf: input.movies)
      try store.close()
    }
  }

  private static func open(_ engine: Engine, _ path: String) throws -> any StorageContext {
    let context = try StorageEngine.open(
      "\(engine.rawValue):\(path)", engines: [.sqlite, .lmdb], monitoring: Library.quiet)
    guard let store = context as? any StorageContext else { throw Failure("\(engine) has no rows") }
    return store
  }

  func copy(
    _ from: Engine, _ to: Engine, verification: MigrationOptions.Verification = .none,
    _ watch: inout Stopwatch
  ) throws -> Answer {
    try folder.remove("new")
    let source = try Self.open(from, folder.path("source-\(from)"))
    let destination = try Self.open(to, folder.path("new"))
    try watch.measure {
      let options = MigrationOptions(verification: verification)
      _ = try Migration(from: source, to: destination, options: options).run()
    }
    var answer = Answer()
    try Repository(destination).filter(Movie.self).result().forEach { answer.add($0) }
    try destination.close()
    try source.close()
    return answer
  }
}
