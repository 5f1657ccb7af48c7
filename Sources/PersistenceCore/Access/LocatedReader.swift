public import PersistenceDriver

/// What reads, and where its store is.
@usableFromInline
struct LocatedReader {
  @usableFromInline let reader: any StorageReader
  /// The store, where the reader is a transaction in it and not the store itself: to hold that twice would be one more
  /// count of references that threads which read at once have in common.
  private let root: (any StorageContext)?

  /// Reads in a transaction of a store or, where that is nil, in a store.
  init(_ reader: any StorageReader, of root: (any StorageContext)?) {
    self.reader = reader
    self.root = root
  }

  /// Looks at a context on behalf of a model.
  @usableFromInline
  init<Model: PersistentRecord>(_ context: any PersistentContext, for model: Model.Type) throws {
    if context is TransactionContext {
      let access = try StorageAccess(context, for: model)
      self.init(access.reader, of: access.root)
    } else {
      self.init(try StorageAccess.store(context, for: model), of: nil)
    }
  }

  /// An error with the record that it is about.
  @usableFromInline
  func located(_ error: any Error, _ key: RecordKey, _ schema: ModelSchema) -> any Error {
    let store = root ?? reader as? any StorageContext
    return (error as? PersistenceError)?.at(model: schema.name, key: key, location: store?.location) ?? error
  }
}
