import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import Synchronization

/// The schemas that clients have sent, by digest.
///
/// A server that has forgotten one asks for it again, so the size is limited and a restart loses nothing.
final class ServedSchemas: Sendable {
  struct Entry: Sendable {
    let schema: ModelSchema
    /// The mapping of this schema alone.
    let fits: SchemaFits
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var size = 0
  }

  private static let sizeLimit = 16 << 20
  /// The maximum size of one schema as JSON, in bytes.
  private static let schemaLimit = 1 << 20

  /// The mappings of requests in the store's own schema: they hide removed fields.
  let visible = SchemaFits(location: "")

  private let state = Mutex(State())

  subscript(digest: String) -> Entry? { state.withLock { $0.entries[digest] } }

  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the schema is too long.
  func add(_ schema: WireSchema) throws {
    if self[schema.digest] != nil { return }
    let size = JSONText.canonical(schema.json).utf8.count
    guard size <= Self.schemaLimit else {
      throw PersistenceError.invalidRequest("a schema has at most \(Self.schemaLimit) bytes")
    }
    let fits = SchemaFits(location: "")
    fits.declare(schema.declaration)
    let entry = Entry(schema: schema.declaration.schema, fits: fits)
    state.withLock { state in
      if state.size + size > Self.sizeLimit { state = State() }
      if state.entries.updateValue(entry, forKey: schema.digest) == nil { state.size += size }
    }
  }
}
