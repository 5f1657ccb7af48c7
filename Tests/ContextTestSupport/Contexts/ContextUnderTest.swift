import Foundation
package import PersistenceCore

/// One context that the suite is run against: a name, an engine and how a fresh store of it is made.
///
/// Nothing else tells contexts apart: tests open stores by URL, and ask the store's own ``Capabilities`` where a
/// rule does not hold everywhere.
package struct ContextUnderTest: Sendable {
  /// The scheme, which is the context's name in reports too.
  package let name: String

  /// The engine; nil for memory, which every repository knows.
  package let engine: StorageEngine?

  /// What makes a store of the least size that the engine can be given, as URL options; nil where a store may
  /// fill the disk.
  package let smallestStore: [String: String]?

  /// Makes a context under test.
  package init(name: String, engine: StorageEngine?, smallestStore: [String: String]? = nil) {
    self.name = name
    self.engine = engine
    self.smallestStore = smallestStore
  }

  /// Makes the name of a store that does not exist yet, in a folder of its own.
  package func makeStore(on medium: TemporaryFolder.Medium = .fast) throws -> StoreUnderTest {
    try StoreUnderTest(self, folder: TemporaryFolder.make(name, on: medium))
  }

  /// The URL of a store at a path.
  package func url(path: String, options: [String: String] = [:]) -> String {
    let unescaped = CharacterSet(charactersIn: "/-_.~").union(.alphanumerics)
    let escaped = path.addingPercentEncoding(withAllowedCharacters: unescaped) ?? path
    let query = options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    return "\(name):\(engine == nil ? "" : escaped)\(query.isEmpty ? "" : "?" + query)"
  }

  /// What a store of this context says that it can do.
  package func capabilities() throws -> Capabilities {
    let store = try makeStore()
    let context = try store.open().storage
    defer { try? context.close() }
    return context.capabilities
  }
}

extension ContextUnderTest: CustomStringConvertible {
  /// The name.
  package var description: String { name }
}
