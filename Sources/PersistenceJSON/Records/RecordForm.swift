import PersistenceDriver
import PersistencePrimitives

/// The members of canonical record files, and the bytes between their values, prepared for ``RecordScanner``.
struct RecordForm: Sendable {
  /// A member; it refers to no memory, so that a loop over the members counts no references.
  struct Member: Sendable {
    /// The position of its field in rows.
    var position: Int
    var kind: FieldKind
    var isOptional: Bool
    /// The number of bytes before the value: the end of the previous member, and the name.
    var prefixCount: Int
  }

  /// The members by the bytes of their names.
  let members: [Member]
  /// The bytes before each value, one after another, and those after the last value.
  let bytes: [UInt8]
  /// The number of bytes after the last value.
  let endCount: Int

  /// Creates the form of files with these members, each with the position of its field.
  init(_ members: [(name: String, position: Int)], in schema: ModelSchema) {
    var sorted: [Member] = []
    var bytes: [UInt8] = []
    for (name, position) in members.sorted(by: { StoredName($0.name) < StoredName($1.name) }) {
      let field = schema.fields[position]
      let prefix = Array("\(sorted.isEmpty ? "{" : ",")\n  \(JSONText.canonical(.string(name))): ".utf8)
      sorted.append(
        Member(
          position: position, kind: field.kind, isOptional: field.isOptional, prefixCount: prefix.count))
      bytes += prefix
    }
    let end = Array("\n}\n".utf8)
    self.members = sorted
    self.bytes = bytes + end
    endCount = end.count
  }
}
