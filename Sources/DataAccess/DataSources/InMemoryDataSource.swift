import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

extension RepositoryDataSource {
  /// A store of its own in memory, for tests and caches.
  ///
  /// - Parameter objects: What it holds at first.
  /// - Returns: The store.
  /// - Throws: ``PersistenceError`` where two of them have one key, or break a unique index.
  public static func inMemory(_ objects: [Object] = []) throws -> RepositoryDataSource {
    let repository = Repository(MemoryContext())
    try Object.insert(objects, in: repository.context)
    return RepositoryDataSource(repository)
  }
}
