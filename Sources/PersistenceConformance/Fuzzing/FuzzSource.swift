import Foundation
import PersistenceCore

extension FuzzDifference {
  /// Returns the program as a Swift Testing test that shows the difference.
  ///
  /// - Parameters:
  ///   - context: An expression that creates the context.
  ///   - imports: The modules that the expression needs.
  /// - Returns: The test's source.
  public func testSource(context: String = "context", imports: [String] = []) -> String {
    let modules = ["Foundation", "PersistenceConformance", "PersistenceCore", "Testing"] + imports
    let words = description.split(separator: "\n").map { "// \($0)" }.joined(separator: "\n")
    return """
      \(modules.map { "import \($0)" }.joined(separator: "\n"))

      \(words)
      @Test func agreesWithTheReference() throws {
      \(FuzzSource.program(program))
        try program.run(on: \(context))
      }
      """
  }
}

enum FuzzSource {
  /// Returns declarations that end with `let program`.
  static func program(_ program: FuzzProgram) -> String {
    var lines = ["  let schemas: [ModelSchema] = ["]
    for schema in program.schemas { lines.append("    \(self.schema(schema)),") }
    lines.append("  ]")
    lines.append("  let steps: [FuzzStep] = [")
    for step in program.steps { lines.append(contentsOf: self.step(step, indentation: "    ")) }
    lines.append("  ]")
    guard !program.relations.isEmpty else {
      lines.append("  let program = FuzzProgram(schemas: schemas, steps: steps)")
      return lines.joined(separator: "\n")
    }
    lines.append("  let relations: [FuzzRelation] = [")
    for relation in program.relations {
      lines.append(
        "    FuzzRelation(\(relation.model), \(text(relation.field)), to: \(relation.target), onDelete: .\(relation.rule)),"
      )
    }
    lines.append("  ]")
    lines.append("  let program = FuzzProgram(schemas: schemas, steps: steps, relations: relations)")
    return lines.joined(separator: "\n")
  }

  /// Returns a text as a literal without invisible characters.
  static func text(_ text: String) -> String {
    let scalars = Array(text.unicodeScalars)
    // A long run of one scalar is written as a repetition.
    if scalars.count > 40, let first = scalars.first {
      let run = scalars.prefix { $0 == first }.count
      if run > 40 {
        let rest = String(String.UnicodeScalarView(scalars.dropFirst(run)))
        let repeated = "String(repeating: \(self.text(String(first))), count: \(run))"
        return rest.isEmpty ? repeated : "\(repeated) + \(self.text(rest))"
      }
    }
    var literal = "\""
    for scalar in scalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case " "..."~": literal.unicodeScalars.append(scalar)
      default: literal += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return literal + "\""
  }

  static func value(_ value: PersistentValue) -> String {
    switch value {
    case .null: ".null"
    case .bool(let truth): ".bool(\(truth))"
    case .integer(let number):
      number == .min ? ".integer(.min)" : number == .max ? ".integer(.max)" : ".integer(\(number))"
    case .double(let number): ".double(\(self.number(number)))"
    case .text(let text): ".text(\(self.text(text)))"
    case .bytes(let bytes): ".bytes([\(bytes.map(String.init).joined(separator: ", "))])"
    case .date(let seconds): ".date(\(number(seconds)))"
    case .uuid(let id):
      ".uuid(UUID(uuid: (\(withUnsafeBytes(of: id.uuid) { $0.map(String.init).joined(separator: ", ") }))))"
    case .decimal(let number):
      number.isNaN
        ? ".decimal(.nan)" : ".decimal(Decimal(canonicalText: \"\(number.canonicalText)\") ?? .nan)"
    case .document(let json): ".document(\(text(json)))"
    }
  }

  private static func number(_ number: Double) -> String {
    if number.isNaN { return ".nan" }
    if number.isInfinite { return number < 0 ? "-.infinity" : ".infinity" }
    if abs(number) < .leastNormalMagnitude, number != 0 {
      return "Double(bitPattern: 0x\(String(number.bitPattern, radix: 16)))"
    }
    return "\(number)"
  }

  private static func list(_ parts: [String]) -> String { "[" + parts.joined(separator: ", ") + "]" }

  private static func values(_ values: [PersistentValue]) -> String { list(values.map(value)) }

  private static func schema(_ schema: ModelSchema) -> String {
    let fields = schema.fields.map { field in
      "FieldSchema(\(text(field.name)), .\(field.kind.rawValue)\(field.isOptional ? ", isOptional: true" : ""))"
    }
    var parts = [
      "name: \(text(schema.name))", "fields: \(list(fields))", "key: \(list(schema.key.map(text)))",
    ]
    if !schema.indexes.isEmpty {
      let indexes = schema.indexes.map { index in
        "IndexSchema(\(list(index.fields.map(text)))\(index.isUnique ? ", isUnique: true" : ""))"
      }
      parts.append("indexes: \(list(indexes))")
    }
    return "try ModelSchema(\(parts.joined(separator: ", ")))"
  }

  private static func step(_ step: FuzzStep, indentation: String) -> [String] {
    let line: String
    switch step {
    case .define(let number), .deleteAll(let number), .holdSnapshot(let number), .readHeld(let number),
      .release(let number):
      line = ".\(step.name)(\(number))"
    case .insert(let model, let values), .update(let model, let values), .save(let model, let values),
      .delete(let model, let values), .find(let model, let values):
      line = ".\(step.name)(\(model), \(self.values(values)))"
    case .deleteRows(let query), .fetch(let query): line = ".\(step.name)(\(self.query(query)))"
    case .holdResult(let number, let query), .fetchHeld(let number, let query):
      line = ".\(step.name)(\(number), \(self.query(query)))"
    case .evolve(let model, let change):
      line = ".evolve(\(model), FuzzChange(to: \(change.target), \(list(change.sources.map(source)))))"
    case .declared(let words, let inner):
      let line = self.step(inner, indentation: "").joined().dropLast()
      return ["\(indentation).declared(\(self.words(words)), \(line)),"]
    case .interrupted(let inner, let check):
      let line = self.step(inner, indentation: "").joined().dropLast()
      return ["\(indentation).interrupted(\(line), atCheck: \(check)),"]
    case .saveMany(let model, let rows):
      return ["\(indentation).saveMany(", "\(indentation)  \(model),", "\(indentation)  ["]
        + rows.map { "\(indentation)    \(values($0))," } + ["\(indentation)  ]),"]
    case .updateRows(let query, let assignments):
      let set = assignments.map { "FieldAssignment(\(text($0.field)), \(value($0.value)))" }
      line = ".updateRows(\(self.query(query)), set: \(list(set)))"
    case .read(let query, let runs):
      line = ".read(\(self.query(query)), \(list(runs.map { "\($0.lowerBound)..<\($0.upperBound)" })))"
    case .pages(let query, let pageSize): line = ".pages(\(self.query(query)), pageSize: \(pageSize))"
    case .sorted(let query, let related, let isDescending, let pageSize):
      let field =
        "RelatedField(\(text(related.reference)), model: \(text(related.model)), field: \(text(related.field)))"
      line =
        ".sorted(\(self.query(query)), by: \(field), isDescending: \(isDescending), pageSize: \(pageSize))"
    case .collection(let query, let size, let part):
      let range = "\(part.lowerBound)..<\(part.upperBound)"
      line = ".collection(\(self.query(query)), pageSize: \(size), part: \(range))"
    case .select(let query, let positions, let number):
      let snapshot = number.map { ", snapshot: \($0)" } ?? ""
      line = ".select(\(self.query(query)), positions: \(positions)\(snapshot))"
    case .aggregate(let query, let grouping, let aggregates, let number):
      let by = grouping.isEmpty ? "" : ", by: \(list(grouping.map(text)))"
      let snapshot = number.map { ", snapshot: \($0)" } ?? ""
      line = ".aggregate(\(self.query(query))\(by), \(list(aggregates.map(aggregate)))\(snapshot))"
    case .reopen: line = ".reopen"
    case .transaction(let steps, let ending):
      return ["\(indentation).transaction(", "\(indentation)  ["]
        + steps.flatMap { self.step($0, indentation: indentation + "    ") }
        + ["\(indentation)  ], .\(ending.rawValue)),"]
    }
    return ["\(indentation)\(line),"]
  }

  private static func words(_ words: FuzzWords) -> String {
    if let past = words.past { return "FuzzWords(past: try FuzzPast(json: \(text(past.json))))" }
    let fields = words.fields.map { field in
      let formerName = field.formerName.map { ", was: \(text($0))" } ?? ""
      let fill = field.fill.map { ", fill: \(value($0))" } ?? ""
      return "FuzzWords.Field(\(text(field.name))\(formerName)\(fill))"
    }
    return "FuzzWords(\(words.formerName.map { "was: \(text($0)), " } ?? "")\(list(fields)))"
  }

  private static func source(_ source: FuzzChange.Source) -> String {
    switch source {
    case .field(let position, nil): ".field(\(position))"
    case .field(let position, let replacement?): ".field(\(position), replacingNil: \(value(replacement)))"
    case .fill(let value): ".fill(\(self.value(value)))"
    case .computed(let function): ".computed(.\(function))"
    }
  }

  private static func aggregate(_ aggregate: Aggregate) -> String {
    switch aggregate {
    case .count: ".count"
    case .minimum(let field): ".minimum(of: \(text(field)))"
    case .maximum(let field): ".maximum(of: \(text(field)))"
    case .sum(let field): ".sum(of: \(text(field)))"
    case .average(let field): ".average(of: \(text(field)))"
    }
  }

  private static func query(_ query: FuzzQuery) -> String {
    var parts = ["\(query.model)"]
    if let predicate = query.predicate { parts.append("where: \(self.predicate(predicate))") }
    if !query.order.isEmpty {
      let order = query.order.map {
        "FieldOrder(\(text($0.field))\($0.isDescending ? ", isDescending: true" : ""))"
      }
      parts.append("order: \(list(order))")
    }
    if let limit = query.limit { parts.append("limit: \(limit)") }
    if query.offset != 0 { parts.append("offset: \(query.offset)") }
    if let after = query.after { parts.append("after: \(values(after))") }
    return "FuzzQuery(\(parts.joined(separator: ", ")))"
  }

  private static func predicate(_ node: PredicateNode) -> String {
    switch node {
    case .constant(let truth): ".constant(\(truth))"
    case .comparison(let field, let comparison, let value):
      ".comparison(field: \(text(field)), .\(comparison), \(self.value(value)))"
    case .fieldComparison(let left, let comparison, let right):
      ".fieldComparison(left: \(text(left)), .\(comparison), right: \(text(right)))"
    case .isIn(let field, let values): ".isIn(field: \(text(field)), \(self.values(values)))"
    case .isBetween(let field, let lower, let upper):
      ".isBetween(field: \(text(field)), lower: \(value(lower)), upper: \(value(upper)))"
    case .text(let field, let search, let needle, let isCaseInsensitive):
      ".text(field: \(text(field)), .\(search.rawValue), \(text(needle)), isCaseInsensitive: \(isCaseInsensitive))"
    case .document(let field, let path, let condition):
      ".document(field: \(text(field)), path: \(list(path.map(text))), \(documentCondition(condition)))"
    case .related(let relation):
      ".related(.init(.\(relation.side == .target ? "target" : "referrers"), field: \(text(relation.field)), "
        + "model: \(text(relation.model)), \(predicate(relation.condition))))"
    case .all(let nodes): ".all(\(list(nodes.map(predicate))))"
    case .any(let nodes): ".any(\(list(nodes.map(predicate))))"
    case .not(let node): ".not(\(predicate(node)))"
    }
  }

  private static func documentCondition(_ condition: DocumentCondition) -> String {
    switch condition {
    case .comparison(let comparison, let value): ".comparison(.\(comparison), \(self.value(value)))"
    case .contains(let value): ".contains(\(self.value(value)))"
    case .text(let search, let needle, let isCaseInsensitive):
      ".text(.\(search.rawValue), \(text(needle)), isCaseInsensitive: \(isCaseInsensitive))"
    }
  }
}
