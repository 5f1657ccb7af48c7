import PersistenceCore

extension FuzzGenerator {
  private static let edges = [127, 128, 129, 255, 256, 257]

  /// A request; sometimes an invalid one.
  mutating func query(_ model: Int) -> FuzzQuery {
    var query = FuzzQuery(model)
    if chance(75) { query.predicate = predicate(model, depth: weighted([(50, 0), (30, 1), (20, 2)])) }
    query.order = order(model)
    if chance(30) {
      query.limit =
        isLarge && chance(60) ? random.pick(Self.edges) : random.pick([0, 1, 1, 2, 3, 5, 10, 20, Int.max])
    }
    if chance(18) {
      query.offset =
        isLarge && chance(60) ? random.pick(Self.edges) : random.pick([1, 1, 2, 3, 5, 10, Int.max])
    }
    if chance(16) { query.after = anchor(model, query) }
    if chance(4) { spoil(&query) }
    return query
  }

  /// The values of an anchor between, on or beyond the rows.
  private mutating func anchor(_ model: Int, _ query: FuzzQuery) -> [PersistentValue] {
    let criteria = (try? FuzzReference.criteria(query, models[model].schema)) ?? []
    let row = row(model)
    return criteria.map { position, _ in chance(70) ? row[position] : value(model, position) }
  }

  private mutating func order(_ model: Int) -> [FieldOrder] {
    let schema = models[model].schema
    if chance(30) { return [] }
    if chance(45), !schema.indexes.isEmpty {
      // An order that an index supports, forwards, backwards or in part.
      let index = random.pick(schema.indexes)
      let isDescending = chance(50)
      return index.fields.map { FieldOrder($0, isDescending: chance(90) ? isDescending : !isDescending) }
    }
    let ordered = schema.fields.filter(\.kind.isOrdered)
    return (0..<random.int(1...3)).map { _ in
      FieldOrder(random.pick(ordered).name, isDescending: chance(50))
    }
  }

  mutating func predicate(_ model: Int, depth: Int) -> PredicateNode {
    guard depth > 0, chance(80) else { return leaf(model) }
    switch random.int(0...5) {
    case 0, 1: return .not(predicate(model, depth: depth - 1))
    case 2, 3: return .all(predicates(model, depth - 1))
    default: return .any(predicates(model, depth - 1))
    }
  }

  private mutating func predicates(_ model: Int, _ depth: Int) -> [PredicateNode] {
    let count = weighted([(5, 0), (15, 1), (50, 2), (30, 3)])
    return (0..<count).map { _ in predicate(model, depth: depth) }
  }

  private mutating func leaf(_ model: Int) -> PredicateNode {
    let schema = models[model].schema
    if chance(3) { return .constant(chance(50)) }
    if isRelated, chance(35), let related = related(model) { return related }
    var position = random.int(0...schema.fields.count - 1)
    if chance(30), !schema.indexes.isEmpty {
      let name = random.pick(random.pick(schema.indexes).fields)
      position = FuzzReference.position(of: name, in: schema.fields) ?? position
    }
    let texts = schema.fields.indices.filter { schema.fields[$0].kind == .string }
    if chance(30), !texts.isEmpty { position = random.pick(texts) }
    let documents = schema.fields.indices.filter { schema.fields[$0].kind == .document }
    if !documents.isEmpty, chance(35) { position = random.pick(documents) }
    let field = schema.fields[position]
    if field.kind.isText, chance(60) { return textSearch(model, position) }
    if field.kind == .document, chance(60) { return part(of: field.name) }
    switch random.int(0...9) {
    case 0, 1: return .isIn(field: field.name, (0..<random.int(0...5)).map { _ in operand(model, position) })
    case 2 where field.kind.isOrdered, 3 where field.kind.isOrdered:
      return .isBetween(field: field.name, lower: operand(model, position), upper: operand(model, position))
    case 4:
      var peers = schema.fields.filter { $0.kind.tag == field.kind.tag }
      if peers.count > 1 { peers.removeAll { FuzzValue.isSameName($0.name, field.name) } }
      return .fieldComparison(left: field.name, comparison(field.kind), right: random.pick(peers).name)
    default: return .comparison(field: field.name, comparison(field.kind), operand(model, position))
    }
  }

  private mutating func comparison(_ kind: FieldKind) -> ComparisonOperator {
    kind.isOrdered && chance(65)
      ? random.pick(ComparisonOperator.allCases) : random.pick([.equal, .equal, .notEqual])
  }

  /// A value to compare with; sometimes nil, for required fields too.
  private mutating func operand(_ model: Int, _ position: Int) -> PersistentValue {
    if chance(12) { return .null }
    let value = random.pick(models[model].pools[position])
    if case .text(let text) = value, chance(25) { return .text(lookAlike(text)) }
    return value
  }

  private mutating func textSearch(_ model: Int, _ position: Int) -> PredicateNode {
    let field = models[model].schema.fields[position].name
    let search = random.pick(TextOperator.allCases)
    var isCaseInsensitive = chance(35)
    var scalars: [Unicode.Scalar] = []
    if case .text(let text) = random.pick(models[model].pools[position]) {
      scalars = Array(text.unicodeScalars)
    }
    switch search {
    case .contains, .hasPrefix, .hasSuffix:
      if chance(20) {
        scalars = Array(
          random.pick(["%", "_", "\\", "*", "", "e", "\u{301}", "a", "A", "\0"]).unicodeScalars)
      }
      if search != .hasSuffix { scalars.removeLast(random.int(0...min(2, scalars.count))) }
      if search != .hasPrefix { scalars.removeFirst(random.int(0...min(2, scalars.count))) }
      // Letters outside of ASCII, which every pool has in both cases.
      if isCaseInsensitive, chance(30) { scalars = [random.pick(["\u{E9}", "\u{C9}"])] }
      if chance(isCaseInsensitive ? 75 : 25) {
        scalars = lookAlike(scalars, ignoringCase: isCaseInsensitive)
      }
      // A wildcard that a faulty context would not take literally.
      if chance(12), !scalars.isEmpty {
        scalars[random.int(0...scalars.count - 1)] = random.pick(["%", "_"])
      }
    case .like:
      scalars = likePattern(scalars)
      if chance(25) { scalars = swappingCase(scalars) }
    case .matches:
      let pattern = random.pick(FuzzPattern.all)
      if !pattern.hasCaseInsensitiveForm { isCaseInsensitive = false }
      scalars = Array(pattern.text.unicodeScalars)
    }
    return .text(
      field: field, search, String(String.UnicodeScalarView(scalars)), isCaseInsensitive: isCaseInsensitive)
  }

  private mutating func lookAlike(_ scalars: [Unicode.Scalar], ignoringCase: Bool) -> [Unicode.Scalar] {
    Array(lookAlike(String(String.UnicodeScalarView(scalars)), ignoringCase: ignoringCase).unicodeScalars)
  }

  /// Swaps the case of ASCII letters, which leaves wildcards unchanged.
  private func swappingCase(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    scalars.map { scalar in
      switch scalar {
      case "a"..."z": Unicode.Scalar(scalar.value - 32) ?? scalar
      case "A"..."Z": Unicode.Scalar(scalar.value + 32) ?? scalar
      default: scalar
      }
    }
  }

  /// A text with some scalars replaced by wildcards; its own wildcards are escaped or not.
  private mutating func likePattern(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var pattern: [Unicode.Scalar] = chance(20) ? ["%"] : []
    for scalar in text.prefix(8) {
      switch random.int(0...9) {
      case 0, 1: pattern.append("%")
      case 2, 3: pattern.append("_")
      case 4: pattern += ["\\", scalar]
      case 5 where chance(50): pattern += ["%", scalar]
      default: pattern += ["%", "_", "\\"].contains(scalar) && chance(80) ? ["\\", scalar] : [scalar]
      }
    }
    if text.count > 8 || chance(20) { pattern.append("%") }
    // A trailing escape is invalid, and `spoil` covers it.
    var escapes = 0
    for scalar in pattern.reversed() {
      guard scalar == "\\" else { break }
      escapes += 1
    }
    if escapes % 2 == 1 { pattern.append("\\") }
    return pattern
  }

  private mutating func spoil(_ query: inout FuzzQuery) {
    let schema = models[query.model].schema
    query.after = nil
    func first(_ matches: (FieldSchema) -> Bool) -> String {
      schema.fields.first(where: matches)?.name ?? "no such field"
    }
    switch random.int(0...11) {
    case 0: query.limit = -1
    case 1: query.offset = random.pick([-1, Int.min])
    case 2: query.order = [FieldOrder("no such field")]
    case 3: query.predicate = .not(.comparison(field: "no such field", .equal, .null))
    case 4:
      query.predicate = .text(field: first { !$0.kind.isText }, .contains, "a", isCaseInsensitive: false)
    case 5: query.predicate = .comparison(field: first { $0.kind != .bool }, .equal, .bool(true))
    case 6: query.order = [FieldOrder(first { $0.kind == .document })]
    case 7: query.after = []
    case 10:
      query.predicate = .document(
        field: first { $0.kind != .document }, path: ["a"], .comparison(.equal, .document("1")))
    case 11:
      query.predicate = .document(
        field: first { $0.kind == .document }, path: [],
        random.pick([
          .comparison(.equal, .integer(1)), .contains(.document("{")),
          .text(.like, "a\\", isCaseInsensitive: false),
        ]))
    case 8: query.predicate = .text(field: first(\.kind.isText), .like, "a\\", isCaseInsensitive: false)
    default:
      query.predicate = .text(
        field: first(\.kind.isText), .matches, random.pick(FuzzPattern.malformed), isCaseInsensitive: false)
    }
  }
}
