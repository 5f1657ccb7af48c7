import PersistenceDriver
import PersistenceDriverSupport

/// A transaction on a JSON directory, which keeps changed files in memory until the commit.
///
/// It holds the writer lock, so only edits by hand can change the folders.
final class JSONDirectoryTransaction: StorageTransaction, JSONDirectoryReader {
  let location: String
  let store: StoreFolder
  private let committed: CommittedFiles
  var pending = PendingFiles()
  var models: Catalog
  private let unique: UniqueCache
  var checked: Set<StoredName> = []
  private let lifetime = TransactionLifetime()

  init(_ store: StoreFolder, location: String, unique: UniqueCache) throws {
    self.store = store
    committed = CommittedFiles(store)
    self.location = location
    self.unique = unique
    models = try committed.catalog()
  }

  /// Ends the transaction; further calls throw.
  func end() { lifetime.end() }

  func lasting(_ results: any StorageResults) -> any StorageResults { lifetime.limit(results) }

  var entries: [Journal.Entry] {
    pending.files.map { name, change in
      Journal.Entry(folder: name.folder, file: name.file, text: change.text, spooled: change.spooled)
    }
  }

  func reading() throws -> (source: any RecordSource, catalog: Catalog) {
    try requireOpen()
    return (self, models)
  }

  func define(_ schema: ModelSchema) throws {
    try requireOpen()
    guard try models.define(schema, location: location) else { return }
    try setCatalog()
  }

  func defineDeferringIndexes(_ schema: ModelSchema) throws { try define(schema) }

  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try requireOpen()
    return true
  }

  func update(_ request: UpdateRequest) throws -> Int { try updateEach(request) }

  func drop(_ schema: ModelSchema) throws {
    try requireOpen()
    guard try models.model(of: schema, location: location) != nil else { return }
    _ = try deleteAll(in: schema)
    models.remove(schema)
    checked.remove(StoredName(schema.name))
    try setCatalog()
  }

  /// The folders that are empty after the commit.
  var leftFolders: Set<String> { models.leftFolders }

  func setCatalog() throws {
    let name = PendingFiles.Name(folder: StoreFolder.controlName, file: StoreFolder.catalogName)
    pending.set(name, PendingFiles.Pending(text: try models.text()))
  }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try put(row, in: schema) { key, exists in
      if exists { throw PersistenceError.duplicateKey(key, in: schema) }
    }
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try put(row, in: schema) { key, exists in
      if !exists { throw PersistenceError.notFound(key, in: schema) }
    }
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try put(row, in: schema) { _, _ in }
  }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try requireOpen()
    try key.validate(for: schema)
    return try mappingErrors(location: location) {
      guard let model = try models.model(of: schema, location: location) else { return false }
      let name = PendingFiles.Name(folder: model.folder, file: FileName.file(for: key))
      guard try exists(name.file, in: name.folder) else { return false }
      pending.set(name, PendingFiles.Pending())
      return true
    }
  }

  func delete(_ request: FetchRequest) throws -> Int {
    let results = try fetch(request)
    var keys: [RecordKey] = []
    _ = try results.read(from: 0, limit: Int.max) { keys.append(try RecordKey(of: $0, in: request.schema)) }
    for key in keys { _ = try delete(key, in: request.schema) }
    return keys.count
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    try requireOpen()
    return try mappingErrors(location: location) {
      guard let model = try models.model(of: schema, location: location) else { return 0 }
      let names = try RecordFiles(schema, in: model, of: self, location: location).names()
      for name in names {
        pending.set(PendingFiles.Name(folder: model.folder, file: name), PendingFiles.Pending())
      }
      return names.count
    }
  }

  func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    let mark = pending.mark
    let before = models
    do {
      try body()
    } catch {
      pending.undo(to: mark)
      models = before
      // The cached unique values may belong to a folder of a model that the rollback restored.
      checked.removeAll()
      throw error
    }
  }

  private func put(
    _ row: borrowing Row, in schema: ModelSchema, _ check: (RecordKey, Bool) throws -> Void
  ) throws {
    try requireOpen()
    try schema.validate(row)
    let key = try RecordKey(of: row, in: schema)
    let text = try RecordText.text(of: row, in: schema)
    let values = try UniqueValues.values(of: row, in: schema)
    try mappingErrors(location: location) {
      guard let model = try models.model(of: schema, location: location) else {
        throw PersistenceError(
          .invalidRequest, "\(schema.name) must be defined before records are written", model: schema.name)
      }
      let name = PendingFiles.Name(folder: model.folder, file: FileName.file(for: key))
      try check(key, try exists(name.file, in: name.folder))
      try checkUnique(values, name, key, schema, model)
      pending.set(name, PendingFiles.Pending(text: text, unique: values))
    }
  }

  private func checkUnique(
    _ values: [[PersistentValue]?], _ name: PendingFiles.Name, _ key: RecordKey, _ schema: ModelSchema,
    _ stored: Catalog.Model
  ) throws {
    guard values.contains(where: { $0 != nil }) else { return }
    let model = StoredName(schema.name)
    // Every record of a rewritten model is pending.
    let isRewritten = models.rewrittenFolders.contains(name.folder)
    if !isRewritten, checked.insert(model).inserted {
      do {
        // Only committed files: `pending` has the values that the transaction wrote itself.
        let committed = RecordFiles(schema, in: stored, of: committed, location: location)
        try unique.refresh(model, schema, committed.withIndex)
      } catch {
        checked.remove(model)
        throw error
      }
    }
    for (number, (index, _)) in UniqueValues.indexes(of: schema).enumerated() {
      guard let values = values[number] else { continue }
      let ours = pending.holder(of: values, index: number, in: name.folder).flatMap {
        $0 == name.file ? nil : $0
      }
      let others = isRewritten ? [] : unique.holders(model, of: values, index: number)
      let theirs = others.sorted().first { file in
        file != name.file && pending.files[PendingFiles.Name(folder: name.folder, file: file)] == nil
      }
      guard let holder = ours ?? theirs else { continue }
      throw violation(values, of: index, in: schema, key, holder: "\(name.folder)/\(holder)")
    }
  }

  /// The error for values of a unique index that another file has.
  func violation(
    _ values: [PersistentValue], of index: IndexSchema, in schema: ModelSchema, _ key: RecordKey,
    holder: String
  ) -> PersistenceError {
    var error = PersistenceError.uniqueViolation(values, of: index, in: schema, key: key)
    error.message += ", in the file \(holder)"
    return error
  }

  private func requireOpen() throws { try lifetime.requireOpen() }
}

extension JSONDirectoryTransaction: RecordSource {
  var version: UInt64 { get throws { try committed.version } }

  func names(in folder: String) throws -> [String] {
    var names = Set(try store.folder(folder)?.names() ?? [])
    for (file, exists) in pending.names(in: folder) {
      if exists { names.insert(file) } else { names.remove(file) }
    }
    return Array(names)
  }

  func read(_ file: String, in folder: String) throws -> FileText? {
    if let change = pending.files[PendingFiles.Name(folder: folder, file: file)] {
      return try change.bytes().map { FileText(bytes: $0) }
    }
    return try committed.read(file, in: folder)
  }

  func exists(_ file: String, in folder: String) throws -> Bool {
    if let change = pending.files[PendingFiles.Name(folder: folder, file: file)] { return change.exists }
    return try committed.exists(file, in: folder)
  }

  func status(of file: String, in folder: String) throws -> FileStatus? {
    guard pending.files[PendingFiles.Name(folder: folder, file: file)] == nil else { return nil }
    return try committed.status(of: file, in: folder)
  }
}
