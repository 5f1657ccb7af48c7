import PersistenceDriver

/// The record files of one model in a source.
struct RecordFiles {
  let source: any RecordSource
  let schema: ModelSchema
  let folder: String
  let location: String
  var indexed: IndexedFields { layout.indexed }
  private let layout: RecordLayout
  /// The model's index; nil if the caller does not use it.
  var index: ModelIndex?

  init(_ schema: ModelSchema, in model: Catalog.Model, of source: any RecordSource, location: String) {
    self.source = source
    self.schema = schema
    folder = model.folder
    self.location = location
    layout = source.store.layouts.layout(of: schema, model.past)
  }

  /// One record's file and its key.
  struct Entry: Sendable {
    let key: RecordKey
    let file: String
  }

  /// The names of the record files, unordered.
  ///
  /// It skips files of other programs: hidden files, and names that do not end in `.json`.
  func names() throws -> [String] {
    try source.names(in: folder).filter { name in
      name.utf8.first != UInt8(ascii: ".") && name.utf8.suffix(5).elementsEqual(FileName.suffix.utf8)
    }
  }

  /// All record files with their keys, sorted by key.
  ///
  /// It opens only files with shortened names.
  func entries() throws -> [Entry] {
    let row = RowBuffer(count: schema.fields.count)
    var entries: [Entry] = []
    let names = try names()
    entries.reserveCapacity(names.count)
    for (number, name) in names.enumerated() {
      if number & 0x3F == 0 { try ReadInterruption.check() }
      if let key = FileName.plainKey(of: name, in: schema) {
        entries.append(Entry(key: key, file: name))
        continue
      }
      try naming(name) {
        if let key = try FileName.key(of: name, in: schema) {
          guard FileName.file(for: key) == name else {
            throw PersistenceError.damaged(
              "the file name does not match its key; rename the file to \(FileName.file(for: key))")
          }
          entries.append(Entry(key: key, file: name))
        } else {
          _ = try glance(name, into: row)
          entries.append(Entry(key: try row.withRow { try RecordKey(of: $0, in: schema) }, file: name))
        }
      }
    }
    return Self.sorted(entries)
  }

  /// Entries in the order of their keys.
  private static func sorted(_ entries: [Entry]) -> [Entry] {
    // Most keys are single integers. A comparison of keys copies their values, and one of numbers does not.
    var numbers: [(number: Int64, position: Int)] = []
    numbers.reserveCapacity(entries.count)
    for (position, entry) in entries.enumerated() {
      guard entry.key.values.count == 1, case .integer(let number) = entry.key.values[0] else { break }
      numbers.append((number, position))
    }
    if numbers.count == entries.count {
      numbers.sort { $0.number < $1.number }
      return numbers.map { entries[$0.position] }
    }
    return entries.sorted { left, right in
      if case .integer(let left) = left.key.values.first, case .integer(let right) = right.key.values.first,
        left != right
      {
        return left < right
      }
      return left.key < right.key
    }
  }

  /// Fills a row from a listed file; returns the file's stamp, or nil if the text cannot change.
  func read(_ entry: Entry, into row: RowBuffer) throws -> UInt64? {
    try fill(row, from: try naming(entry.file, entry.key) { try source.read(entry.file, in: folder) }, entry)
  }

  /// Fills a row from the text of a listed file, nil if it is gone; returns the same.
  func fill(_ row: RowBuffer, from text: FileText?, _ entry: Entry) throws -> UInt64? {
    try naming(entry.file, entry.key) {
      guard let text else { throw PersistenceError.changedByHand(entry.file, in: folder) }
      try fill(row, from: text.bytes, entry.key, entry.file)
      return text.stamp
    }
  }

  /// Fills a row from the file of a key; returns whether there is one.
  func find(_ key: RecordKey, into row: RowBuffer) throws -> Bool {
    let file = FileName.file(for: key)
    return try naming(file, key) {
      guard let text = try source.read(file, in: folder) else { return false }
      try fill(row, from: text.bytes, key, file)
      return true
    }
  }

  private func fill(_ row: RowBuffer, from text: [UInt8], _ key: RecordKey, _ file: String) throws {
    try fill(row, from: text)
    if row.withRow({ holds($0, key) }) { return }
    try check(try row.withRow { try RecordKey(of: $0, in: schema) }, file)
  }

  /// Fills a row from text: with the scanner if the text is canonical, otherwise with the parser.
  func fill(_ row: RowBuffer, from text: [UInt8]) throws {
    if RecordScanner.fill(row, from: text, by: layout) { return }
    if let earlier = layout.earlier, RecordScanner.fill(row, from: text, by: layout, earlier) { return }
    try RecordText.fill(row, from: text, in: schema, layout.earlier)
  }

  private func holds(_ row: borrowing Row, _ key: RecordKey) -> Bool {
    for (value, position) in zip(key.values, schema.keyPositions) {
      let cell = row[position]
      switch value {
      case .integer(let number): if cell.tag != .integer || cell.integerValue != number { return false }
      case .uuid(let uuid): if cell.tag != .uuid || cell.uuidValue != uuid { return false }
      case .text(let text):
        if cell.tag != .text || !text.utf8.elementsEqual(cell.borrowedText) { return false }
      default: return false
      }
    }
    return true
  }

  /// The error for a record that changed since the previous read.
  func changedByHand(_ entry: Entry) -> PersistenceError {
    .changedByHand(entry.file, in: folder).at(model: schema.name, key: entry.key, location: location)
  }

  func check(_ key: RecordKey, _ file: String) throws {
    let wanted = FileName.file(for: key)
    guard wanted == file else {
      throw PersistenceError.damaged("the file holds the record of the key \(key), whose file is \(wanted)")
    }
  }

  /// Adds the file, the model and the key to errors.
  func naming<Result>(_ file: String, _ key: RecordKey? = nil, _ body: () throws -> Result) throws
    -> Result
  {
    do {
      return try body()
    } catch var error as PersistenceError {
      if !error.message.contains("\(folder)/\(file)") {
        error.message = "\(folder)/\(file): \(error.message)"
      }
      throw error.at(model: schema.name, key: key, location: location)
    }
  }
}
