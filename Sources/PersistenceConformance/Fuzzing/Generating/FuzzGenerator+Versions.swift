import PersistenceCore

/// Programs of an app's versions, old and new ones side by side.
extension FuzzGenerator {
  /// A model through its versions.
  private struct Lineage {
    struct Field {
      let number: Int
      /// All names, the last one last.
      var names: [String]
      var kind: FieldKind
      var isOptional: Bool
      var fill: PersistentValue?
      var replacement: PersistentValue?
      /// The numbers of the fields from which the value is computed.
      var sources: [Int] = []
      /// Whether its optionality has changed, which happens once.
      var isSettled = false
      /// Whether a rule restores it.
      var isRestored = false
      var pool: [PersistentValue]

      var name: FuzzPast.Name {
        FuzzPast.Name(number: number, name: names[names.count - 1], formerNames: names.dropLast())
      }
    }

    var modelNames: [String]
    /// The declared fields; the first one is the key.
    var fields: [Field]
    /// All fields that there were, by number.
    var all: [Int: Field] = [:]
    var removed: [Int] = []
    var nameCount = 0

    mutating func newName() -> String {
      nameCount += 1
      return ["field", "f ", "F", "feld\u{E4}"][nameCount % 4] + "\(nameCount)"
    }
  }

  mutating func versionedProgram() -> FuzzProgram {
    var lineage = firstVersion()
    let keys = (0..<random.int(6...20)).map { [Self.plain(lineage.fields[0].kind, $0)] }
    /// The first version that a store may be used by once a version was opened.
    var floors: [Int] = []
    var floor = 0
    for number in 0..<random.int(3...7) {
      if number > 0 {
        let isRequiring = change(&lineage)
        if isRequiring { floor = number }
      }
      guard add(lineage, keys) else { break }
      floors.append(floor)
    }
    var steps: [FuzzStep] = []
    var opened = 0
    func open(_ version: Int) -> FuzzStep { .declared(words[version] ?? FuzzWords(), .define(version)) }
    if chance(95) {
      let first = chance(80) ? 0 : random.int(0...floors.count - 1)
      steps.append(open(first))
      opened = first
      for key in keys where chance(80) {
        steps.append(.declared(words[first] ?? FuzzWords(), .insert(first, row(first, key: key))))
      }
    }
    for _ in 0..<random.int(20...45) {
      let version = random.int(floors[opened]...min(opened + 2, floors.count - 1))
      switch random.int(0...19) {
      case 0...4:
        steps.append(open(version))
        opened = max(opened, version)
      case 5: steps.append(.reopen)
      case 6:
        guard let past = words[version]?.past, !lineage.removed.isEmpty else { continue }
        var restoring = past
        restoring.restored = lineage.all[random.pick(lineage.removed)]?.name
        steps.append(.declared(FuzzWords(past: restoring), .define(version)))
      default: steps.append(.declared(words[version] ?? FuzzWords(), declaredStep(version)))
      }
    }
    return FuzzProgram(schemas: models.map(\.schema), steps: steps)
  }

  private mutating func firstVersion() -> Lineage {
    var lineage = Lineage(modelNames: ["Movie"], fields: [])
    for number in 0..<random.int(3...6) {
      let kind = number == 0 ? random.pick([.int64, .string, .uuid]) : random.pick(FieldKind.allCases)
      lineage.fields.append(
        Lineage.Field(
          number: number, names: [lineage.newName()], kind: kind, isOptional: number > 0 && chance(50),
          pool: pool(kind, random.pick([2, 4, 8]))))
    }
    return lineage
  }

  /// Adds a version to the program's schemas; returns false if it is no valid schema.
  private mutating func add(_ lineage: Lineage, _ keys: [[PersistentValue]]) -> Bool {
    var fields = lineage.fields
    let key = fields[0].name.name
    fields.shuffle(using: &random)
    let ordered = fields.filter(\.kind.isOrdered).map(\.name.name)
    let index = chance(40) ? ordered.first.map { [IndexSchema([$0])] } ?? [] : []
    let schemas = fields.map { FieldSchema($0.name.name, $0.kind, isOptional: $0.isOptional) }
    guard
      let schema = try? ModelSchema(
        name: lineage.modelNames[lineage.modelNames.count - 1], fields: schemas, key: [key], indexes: index)
    else { return false }
    func name(_ number: Int) -> FuzzPast.Name {
      (fields.first { $0.number == number } ?? lineage.all[number])?.name
        ?? FuzzPast.Name(number: number, name: "")
    }
    let past = FuzzPast(
      was: lineage.modelNames.dropLast(),
      fields.map { field in
        FuzzPast.Field(
          number: field.number, formerNames: field.name.formerNames, fill: field.fill,
          replacement: field.replacement, sources: field.sources.map(name),
          isRestored: field.isRestored ? true : nil)
      }, removed: lineage.removed.map(name))
    words[models.count] = FuzzWords(past: past)
    models.append(FuzzModel(schema: schema, keys: keys, pools: fields.map(\.pool)))
    return true
  }

  /// Makes the next version; returns whether an optional field becomes required.
  private mutating func change(_ lineage: inout Lineage) -> Bool {
    var isRequiring = false
    for _ in 0..<random.int(1...3) {
      if changeOnce(&lineage) { isRequiring = true }
    }
    return isRequiring
  }

  private mutating func changeOnce(_ lineage: inout Lineage) -> Bool {
    let place = random.int(0...lineage.fields.count - 1)
    let isKey = place == 0
    switch random.int(0...16) {
    case 0, 1, 2: lineage.fields[place].names.append(lineage.newName())
    case 3: lineage.modelNames.append("Movie\(lineage.modelNames.count)")
    case 4, 5, 6: addField(&lineage)
    case 7, 8:
      if !isKey { lineage.removed.append(drop(place, &lineage)) }
    case 9:
      if !isKey { _ = drop(place, &lineage) }
    case 10, 11: computeField(&lineage)
    case 13, 14: restoreField(&lineage)
    case 12:
      let wider = FuzzReference.widerKinds(than: lineage.fields[place].kind)
      if !isKey, !wider.isEmpty {
        lineage.fields[place].kind = random.pick(wider)
        lineage.fields[place].pool += pool(lineage.fields[place].kind, 2)
      }
    default:
      guard !isKey, !lineage.fields[place].isSettled else { return false }
      lineage.fields[place].isSettled = true
      lineage.fields[place].isOptional.toggle()
      if lineage.fields[place].isOptional { return false }
      lineage.fields[place].replacement = random.pick(lineage.fields[place].pool)
      return true
    }
    return false
  }

  /// Stops declaring a field; returns its number.
  private func drop(_ place: Int, _ lineage: inout Lineage) -> Int {
    let field = lineage.fields.remove(at: place)
    lineage.all[field.number] = field
    return field.number
  }

  /// Declares a removed field again, with the rule that restores it.
  private mutating func restoreField(_ lineage: inout Lineage) {
    // A store that never had the field needs a value for it.
    let places = lineage.removed.indices.filter { place in
      lineage.all[lineage.removed[place]].map { $0.isOptional || $0.fill != nil || !$0.sources.isEmpty }
        ?? false
    }
    guard !places.isEmpty else { return }
    let number = lineage.removed.remove(at: random.pick(places))
    guard var field = lineage.all[number] else { return }
    field.isRestored = true
    lineage.fields.append(field)
  }

  private func newNumber(_ lineage: Lineage) -> Int {
    (lineage.fields.map(\.number) + Array(lineage.all.keys)).reduce(0, max) + 1
  }

  private mutating func addField(_ lineage: inout Lineage) {
    let kind = random.pick(FieldKind.allCases)
    let pool = pool(kind, random.pick([2, 4, 8]))
    let isOptional = chance(50)
    let fill = isOptional && chance(50) ? nil : random.pick(pool)
    lineage.fields.append(
      Lineage.Field(
        number: newNumber(lineage), names: [lineage.newName()], kind: kind, isOptional: isOptional,
        fill: fill, pool: pool))
  }

  /// Adds a field that is computed from others, which may be computed themselves, and sometimes uses one up.
  private mutating func computeField(_ lineage: inout Lineage) {
    let sources = lineage.fields.shuffled(using: &random).prefix(random.int(1...2)).map(\.number)
    lineage.fields.append(
      Lineage.Field(
        number: newNumber(lineage), names: [lineage.newName()], kind: .string, isOptional: chance(40),
        sources: sources, pool: pool(.string, 4)))
    let used = lineage.fields.firstIndex { $0.number == sources[0] }
    if chance(40), let used, used > 0 { _ = drop(used, &lineage) }
  }
}
