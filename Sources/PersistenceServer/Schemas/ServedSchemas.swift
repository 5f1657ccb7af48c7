#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives
  import Synchronization

  /// The schemas that clients have sent, by digest.
  ///
  /// A server that has forgotten one asks for it again, so the size is limited and a restart loses nothing.
  final class ServedSchemas: Sendable {
    /// The schemas of one request.
    struct Entry: Sendable {
      /// The schemas, that of the path's model first.
      let schemas: [ModelSchema]
      /// The writer of records of the first schema.
      let writer: RecordWriter
      /// The mapping of these schemas alone.
      let fits: SchemaFits
    }

    private struct State {
      var declarations: [String: ModelDeclaration] = [:]
      var entries: [[String]: Entry] = [:]
      var size = 0

      mutating func makeRoom(for size: Int) {
        if self.size + size > sizeLimit { self = State() }
        self.size += size
      }
    }

    private static let sizeLimit = 16 << 20
    /// The maximum size of one schema as JSON, in bytes.
    private static let schemaLimit = 1 << 20
    /// The maximum number of schemas of one request.
    private static let countLimit = 64

    /// The mappings of requests in the store's own schema: they hide removed fields.
    let visible = SchemaFits(location: "")

    private let state = Mutex(State())

    /// The schemas of a request.
    ///
    /// - Throws: `Problem` if the server does not know one of them.
    func entry(_ digests: [String]) throws -> Entry {
      try state.withLock { state in
        if let known = state.entries[digests] { return known }
        guard digests.count <= Self.countLimit else {
          throw PersistenceError.invalidRequest("a request has at most \(Self.countLimit) schemas")
        }
        let declarations = try digests.map { digest in
          guard let declaration = state.declarations[digest] else {
            throw Problem(
              status: 428, .unknownSchema,
              "the server does not know the schema; send it to /schemas/\(digest) first")
          }
          return declaration
        }
        let fits = SchemaFits(location: "")
        for declaration in declarations { fits.declare(declaration) }
        let schemas = declarations.map(\.schema)
        let entry = Entry(schemas: schemas, writer: RecordWriter(schemas[0].fields), fits: fits)
        // A mapping takes about as much memory as its schemas.
        state.makeRoom(for: digests.count << 12)
        state.entries[digests] = entry
        return entry
      }
    }

    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the schema is too long.
    func add(_ schema: WireSchema) throws {
      if state.withLock({ $0.declarations[schema.digest] }) != nil { return }
      let size = JSONText.canonical(schema.json).utf8.count
      guard size <= Self.schemaLimit else {
        throw PersistenceError.invalidRequest("a schema has at most \(Self.schemaLimit) bytes")
      }
      state.withLock { state in
        state.makeRoom(for: size)
        state.declarations[schema.digest] = schema.declaration
      }
    }
  }
#endif
