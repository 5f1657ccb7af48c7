import PersistenceCore
import PersistenceDriverSupport

/// Where the present fields of a model come from, in records of a release.
///
/// It follows a release's model through the files of the later releases, field by field. It shares no code with the
/// comparison that evolves stores.
struct FieldLineage {
  enum Source {
    /// The values of a released field, by position, with the value of records that had nil.
    case released(Int, replacingNil: PersistentValue?)
    /// One value for all records.
    case constant(PersistentValue)
    /// Values that only the app's code knows.
    case computed
  }

  struct Field {
    var name: String
    var isOptional: Bool
    var source: Source
  }

  /// The model's name in the last document.
  private(set) var model: String
  private(set) var fields: [Field]
  /// Whether a document has removed the model.
  private(set) var isRemoved = false
  /// The released fields whose values must differ between records, by position.
  private(set) var uniqueFields: [[Int]]
  /// The names of removed fields, whose values only a restoration brings back.
  private var removedNames: [String]

  /// - Parameters:
  ///   - released: The model of the release.
  ///   - documents: The later releases, and the code.
  init(_ released: SchemaDocument.Model, through documents: [SchemaDocument]) {
    model = released.name
    fields = released.fields.enumerated().map { position, field in
      Field(
        name: field.schema.name, isOptional: field.schema.isOptional,
        source: .released(position, replacingNil: nil))
    }
    uniqueFields = []
    removedNames = []
    noteUniqueIndexes(released.indexes)
    for document in documents { follow(document) }
  }

  /// Continues with the next release, or with the code.
  private mutating func follow(_ document: SchemaDocument) {
    if isRemoved { return }
    if let next = document.model(model) {
      follow(next)
    } else if document.removedModels.contains(where: { $0.contains(model) }) {
      isRemoved = true
    }
  }

  private mutating func follow(_ next: SchemaDocument.Model) {
    let names = next.fields.map(\.schema.name)
    var rest = fields
    var followed: [Field] = []
    for field in next.fields {
      let name = field.schema.name
      let former = field.formerNames.filter { !names.containsName($0) }
      let place =
        rest.firstIndex { [$0.name].containsName(name) } ?? rest.firstIndex { former.containsName($0.name) }
      var now = Field(name: name, isOptional: field.schema.isOptional, source: .computed)
      if let place {
        let old = rest.remove(at: place)
        now.source = old.source
        if old.isOptional, !now.isOptional { now.source = old.source.replacingNil(by: field.replacement) }
      } else if !next.computations.contains(where: { $0.fields.containsName(name) }),
        !removedNames.containsName(name)
      {
        now.source = .constant(field.fill ?? .null)
      }
      followed.append(now)
    }
    removedNames += next.removedFields.flatMap { [$0.name] + $0.formerNames }
    let usedUp = next.computations.flatMap(\.from)
    followed += rest.filter { field in
      !usedUp.containsName(field.name) && !next.removedFields.contains { $0.contains(field.name) }
    }
    (model, fields) = (next.name, followed)
    noteUniqueIndexes(next.indexes)
  }

  private mutating func noteUniqueIndexes(_ indexes: [IndexSchema]) {
    for index in indexes where index.isUnique {
      let positions = index.fields.compactMap { name -> Int? in
        guard let field = fields.first(where: { [$0.name].containsName(name) }),
          case .released(let position, _) = field.source
        else { return nil }
        return position
      }
      if positions.count == index.fields.count { uniqueFields.append(positions) }
    }
  }

  /// The names of a released field with its model: the released one, and the present one.
  func names(of position: Int, _ released: SchemaDocument.Model) -> [String] {
    let present = fields.first { field in
      if case .released(position, _) = field.source { true } else { false }
    }
    return ["\(released.name).\(released.fields[position].schema.name)"]
      + (present.map { ["\(model).\($0.name)"] } ?? [])
  }

  /// The value of a released field in records of now.
  func value(_ value: PersistentValue, of position: Int) -> PersistentValue {
    for case .released(position, let replacement?) in fields.map(\.source) where value.isNull {
      return FuzzValue.stored(replacement)
    }
    return value
  }
}

extension FieldLineage.Source {
  fileprivate func replacingNil(by value: PersistentValue?) -> Self {
    switch self {
    case .released(let position, nil): .released(position, replacingNil: value)
    case .constant(.null): value.map { .constant($0) } ?? self
    case .released, .constant, .computed: self
    }
  }
}
