import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Finds the records of an import whose references lead to records that are not there yet.
struct ImportReferences {
  /// A field that refers to records.
  private struct Field {
    let name: String
    let position: Int
    let target: ModelSchema
    /// Whether the field refers to records of the imported model, which may come later.
    let isOwn: Bool
  }

  private let fields: [Field]
  private let keyPosition: Int

  /// Reads the references that the store lists for a model.
  init(of schema: ModelSchema, in store: any StorageReader) throws {
    let name = StoredName(schema.name)
    fields = try ReferenceLedger.references(store).compactMap { reference in
      guard StoredName(reference.model) == name, let position = schema.position(of: reference.field),
        let target = try store.schema(named: reference.target)
      else { return nil }
      return Field(
        name: schema.fields[position].name, position: position, target: target,
        isOwn: StoredName(target.name) == name)
    }
    keyPosition = schema.keyPositions[0]
  }

  /// Why each of some records cannot be stored together with the others; nil for a record that can.
  ///
  /// - Parameters:
  ///   - records: The values of the records.
  ///   - rejected: The positions of the records that the store refuses for another reason.
  ///   - reader: Reads the store, without the records.
  /// - Returns: A reason for each record that is not refused.
  /// - Throws: ``PersistenceError`` if the store cannot be read.
  func problems(
    of records: [[PersistentValue]], besides rejected: Set<Int> = [], in reader: any StorageReader
  ) throws -> [String?] {
    var problems = [String?](repeating: nil, count: records.count)
    if fields.isEmpty { return problems }
    let stored = try fields.map { try self.stored($0, records, in: reader) }
    let others = records.indices.filter { !rejected.contains($0) }
    // A record that must wait makes those wait that refer to it.
    while true {
      let own = Set(others.lazy.filter { problems[$0] == nil }.map { key(of: records[$0]) })
      var isChanged = false
      for index in others where problems[index] == nil {
        for (field, stored) in zip(fields, stored) {
          let key = records[index][field.position]
          guard !key.isNull, !stored.contains(key), !(field.isOwn && own.contains(key)) else { continue }
          problems[index] =
            "“\(field.name)” refers to \(field.target.name) \(key), which the store does not contain"
          isChanged = true
        }
      }
      if !isChanged { return problems }
    }
  }

  /// Whether a record refers to one of some records of the same model.
  func refer(_ record: [PersistentValue], toAnyOf targets: Set<PersistentValue>) -> Bool {
    fields.contains { $0.isOwn && targets.contains(record[$0.position]) }
  }

  /// The key of a record, as references write it.
  func key(of record: [PersistentValue]) -> PersistentValue { record[keyPosition] }

  /// The keys among those that a field has that the store contains.
  private func stored(_ field: Field, _ records: [[PersistentValue]], in reader: any StorageReader) throws
    -> Set<PersistentValue>
  {
    var stored: Set<PersistentValue> = []
    let keys = Set(records.lazy.map { $0[field.position] }.filter { !$0.isNull }).sorted()
    let request = try FetchRequest(field.target, where: .isIn(field: field.target.key[0], keys))
    _ = try reader.fetch(request, selecting: [field.target.keyPositions[0]])
      .read(from: 0, limit: Int.max) { stored.insert(try $0.value(at: 0)) }
    return stored
  }
}
