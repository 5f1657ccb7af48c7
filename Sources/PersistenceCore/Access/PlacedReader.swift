public import PersistenceDriver

/// What reads, and where its store is.
@usableFromInline
struct PlacedReader {
  @usableFromInline let reader: any StorageReader
  private let root: any StorageContext

  init(_ reader: any StorageReader, of root: any StorageContext) {
    self.reader = reader
    self.root = root
  }

  /// Looks at a context on behalf of a model.
  @usableFromInline
  init<Model: PersistentRecord>(_ context: any PersistentContext, for model: Model.Type) throws {
    let access = try StorageAccess(context, for: model)
    self.init(access.reader, of: access.root)
  }

  /// An error with the record that it is about.
  @usableFromInline
  func located(_ error: any Error, _ key: RecordKey, _ schema: ModelSchema) -> any Error {
    (error as? PersistenceError)?.at(model: schema.name, key: key, location: root.location) ?? error
  }
}
