import PersistenceCore

/// A stored field of a model whose versions use one store.
struct FuzzColumn: Sendable {
  let number: Int
  var name: String
  var formerNames: Set<StoredName>
  var field: FieldSchema
  var isHidden = false
  /// The value of new records of a version that does not declare the field; nil if there is none.
  var fill: PersistentValue?

  /// The value of new records of a version that does not see the field; nil if there is none.
  var initial: PersistentValue? {
    if isHidden { return field.isOptional ? .null : field.kind.zero }
    return fill ?? (field.isOptional ? .null : nil)
  }
}

/// Openings of a store by versions of an app, as the contract states them (S1 to S8).
extension FuzzReference {
  private var stored: Table? { tables.first }

  private func column(_ number: Int) -> Int? { columns.firstIndex { $0.number == number } }

  /// Where a version finds its fields, without changing the store.
  func sources(of declared: ModelSchema, _ past: FuzzPast) throws -> [FuzzView.Source] {
    try zip(declared.fields, past.fields).map { field, past in
      if let position = column(past.number) {
        let stored = columns[position]
        guard !stored.isHidden || past.isRestored == true, Self.includes(field.kind, stored.field.kind),
          field.isOptional || !stored.field.isOptional
        else { throw Refusal(.schemaMismatch) }
        return .stored(position)
      }
      guard past.sources.isEmpty,
        past.isRestored == true || !removedNames.contains(StoredName(field.name)),
        let fill = past.fill ?? (field.isOptional ? .null : nil)
      else { throw Refusal(.schemaMismatch) }
      return .constant(FuzzValue.stored(fill))
    }
  }

  private static func includes(_ kind: FieldKind, _ stored: FieldKind) -> Bool {
    kind == stored || widerKinds(than: stored).contains(kind)
  }

  /// Opens the store with a version, which changes the store as far as it needs.
  mutating func open(_ declared: ModelSchema, _ past: FuzzPast) throws {
    guard stored != nil else { return create(declared, past) }
    var changed = columns
    var computed: [Int: [PersistentValue]] = [:]
    var values: [(column: FuzzColumn, values: [PersistentValue])] = []
    var used: Set<Int> = []
    for (field, words) in zip(declared.fields, past.fields) {
      if let position = column(words.number) {
        changed[position] = try matched(shown(columns[position], field, words), field, words)
        continue
      }
      if words.isRestored == true {
        removedNames.subtract(([field.name] + words.formerNames).map { StoredName($0) })
      }
      guard !removedNames.contains(StoredName(field.name)) else { throw Refusal(.schemaMismatch) }
      var column = FuzzColumn(
        number: words.number, name: field.name, formerNames: Set(words.formerNames.map { StoredName($0) }),
        field: field)
      let new: [PersistentValue]
      if words.sources.isEmpty {
        guard let fill = words.fill ?? (field.isOptional ? .null : nil) else {
          throw Refusal(.schemaMismatch)
        }
        column.fill = fill
        new = rows.map { _ in FuzzValue.stored(fill) }
      } else {
        new = try compute(words.number, declared, past, &computed, &used)
      }
      values.append((column, new))
    }
    let replacements = zip(columns, changed).map { before, after in
      before.field.isOptional && !after.field.isOptional ? after.fill : nil
    }
    let kept = rows.map { row in
      zip(row, replacements).map { value, replacement in
        value.isNull ? FuzzValue.stored(replacement ?? .null) : value
      }
    }
    let numbers = past.fields.map(\.number)
    for position in changed.indices where used.contains(changed[position].number) {
      if !numbers.contains(changed[position].number) { changed[position].isHidden = true }
    }
    columns = changed + values.map(\.column)
    hide(past.removed)
    store(
      kept.enumerated().map { number, row in row + values.map { $0.values[number] } }, like: declared, past)
  }

  private var rows: [[PersistentValue]] { stored?.rows ?? [] }

  private mutating func create(_ declared: ModelSchema, _ past: FuzzPast) {
    columns = zip(declared.fields, past.fields).map { field, past in
      FuzzColumn(
        number: past.number, name: field.name, formerNames: Set(past.formerNames.map { StoredName($0) }),
        field: field, fill: past.fill)
    }
    hide(past.removed)
    let names = declared.fields.map(\.name) + past.fields.flatMap(\.formerNames)
    for source in past.fields.flatMap(\.sources)
    where !names.contains(where: { StoredName($0) == StoredName(source.name) }) {
      removedNames.insert(StoredName(source.name))
    }
    store([], like: declared, past)
  }

  /// Hides fields that a rule removes, and remembers those that the store never had.
  private mutating func hide(_ removed: [FuzzPast.Name]) {
    for name in removed {
      let names = ([name.name] + name.formerNames).map { StoredName($0) }
      guard let position = column(name.number) else {
        removedNames.formUnion(names)
        continue
      }
      // A later version may have restored the field and renamed it, which an older one does not undo.
      let last = StoredName(columns[position].name)
      if names.contains(last) { columns[position].isHidden = true }
      columns[position].formerNames.formUnion(names)
      columns[position].formerNames.remove(last)
    }
  }

  /// The column of a field that a rule restores, with its last name; other columns as they are.
  private func shown(_ column: FuzzColumn, _ field: FieldSchema, _ words: FuzzPast.Field) -> FuzzColumn {
    guard column.isHidden, words.isRestored == true else { return column }
    var column = column
    column.isHidden = false
    column.formerNames.formUnion(([column.name] + words.formerNames).map { StoredName($0) })
    column.formerNames.remove(StoredName(field.name))
    column.name = field.name
    if !column.field.isOptional { column.fill = column.fill ?? column.field.kind.zero }
    return column
  }

  private func matched(_ column: FuzzColumn, _ field: FieldSchema, _ words: FuzzPast.Field) throws
    -> FuzzColumn
  {
    var column = column
    guard !column.isHidden, Self.includes(field.kind, column.field.kind) else {
      throw Refusal(.schemaMismatch)
    }
    if !column.formerNames.contains(StoredName(field.name)) {
      column.formerNames.formUnion(([column.name] + words.formerNames).map { StoredName($0) })
      column.formerNames.remove(StoredName(field.name))
      column.name = field.name
    }
    column.field.kind = field.kind
    if field.isOptional { column.field.isOptional = true }
    if !field.isOptional, column.field.isOptional {
      guard let value = words.replacement else { throw Refusal(.schemaMismatch) }
      column.field.isOptional = false
      column.fill = value
    }
    return column
  }

  /// The values of a computed field in all records.
  private func compute(
    _ number: Int, _ declared: ModelSchema, _ past: FuzzPast, _ computed: inout [Int: [PersistentValue]],
    _ used: inout Set<Int>
  ) throws -> [PersistentValue] {
    if let known = computed[number] { return known }
    guard let words = past.fields.first(where: { $0.number == number }), !words.sources.isEmpty else {
      throw Refusal(.schemaMismatch)
    }
    var inputs: [[PersistentValue]] = []
    for source in words.sources {
      if let position = column(source.number) {
        // A source that is not declared is known by its last name only.
        let isDeclared = past.fields.contains { $0.number == source.number }
        let isNamed = StoredName(columns[position].name) == StoredName(source.name)
        let isRestored = past.fields.contains { $0.number == source.number && $0.isRestored == true }
        guard !columns[position].isHidden || isRestored, isDeclared || isNamed else {
          throw Refusal(.schemaMismatch)
        }
        used.insert(source.number)
        inputs.append(rows.map { $0[position] })
      } else {
        inputs.append(try compute(source.number, declared, past, &computed, &used))
      }
    }
    let values = rows.indices.map { row in FuzzPast.text(inputs.map { $0[row] }) }
    computed[number] = values
    return values
  }

  /// Shows a removed field again under its last name.
  mutating func restore(_ name: FuzzPast.Name) throws {
    guard let position = column(name.number), columns[position].isHidden,
      StoredName(columns[position].name) == StoredName(name.name)
    else { throw Refusal(.invalidRequest) }
    columns[position].isHidden = false
    let field = columns[position].field
    if !field.isOptional { columns[position].fill = columns[position].fill ?? field.kind.zero }
  }

  /// Keeps rows in a table whose names are those of no version.
  private mutating func store(_ rows: [[PersistentValue]], like declared: ModelSchema, _ past: FuzzPast) {
    let key = declared.key.compactMap { Self.position(of: $0, in: declared.fields) }
      .map { "c\(past.fields[$0].number)" }
    let fields = columns.map { column in
      FieldSchema("c\(column.number)", column.field.kind, isOptional: column.field.isOptional)
    }
    guard let schema = try? ModelSchema(name: "stored", fields: fields, key: key) else { return }
    tables = [Table(schema: schema, rows: rows)]
  }
}
