import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives
import PersistenceQueryLanguage

/// Reads the parts of a query.
struct WireQueryReader {
  let schema: ModelSchema
  let relations: StoredRelations?
  let limits: QueryLimits

  /// The condition of a body.
  func predicate(_ json: JSONValue?) throws -> PredicateNode? {
    switch json {
    case nil: nil
    case .string(let text): try predicate(text)
    case let node?: try PredicateJSON.node(node, schema, relations: relations, limits: limits)
    }
  }

  /// The condition of a text.
  func predicate(_ text: String) throws -> PredicateNode {
    do {
      let node = try WhereParser.predicate(text, for: schema, relations: relations)
      var count = 0
      try limits.check(node, count: &count)
      return node
    } catch let error as WhereError {
      throw PersistenceError(
        .invalidRequest, "“where” is malformed at character \(error.position + 1): \(error.message)",
        model: schema.name)
    }
  }

  /// The order of a text, or of an array.
  func order(_ json: JSONValue) throws -> [RelatedOrder.Criterion] {
    switch json {
    case .string(let text):
      do {
        return try named(try FieldNames.list(text))
      } catch let error as FieldListError {
        throw PersistenceError.invalidRequest("“sort” is malformed: \(error.message)")
      }
    case .array(let elements): return try elements.flatMap(criterion)
    default: throw PersistenceError.invalidRequest("“sort” is text or an array, not \(json.kind)")
    }
  }

  private func named(_ names: [(name: String, isDescending: Bool)]) throws -> [RelatedOrder.Criterion] {
    guard let relations else {
      return names.map { .init(FieldOrder($0.name, isDescending: $0.isDescending)) }
    }
    return try RelatedNames.order(names, of: schema, relations)
  }

  private func criterion(_ json: JSONValue) throws -> [RelatedOrder.Criterion] {
    switch json {
    case .string(let text):
      let isDescending = text.hasPrefix("-")
      return try named([(isDescending ? String(text.dropFirst()) : text, isDescending)])
    case .object(let members)
    where members.allSatisfy { ["field", "descending", "of", "model"].contains($0.name) }:
      guard case .string(let name)? = json.member("field") else { break }
      let isDescending: Bool
      switch json.member("descending") {
      case nil: isDescending = false
      case .bool(let truth): isDescending = truth
      default: throw Self.malformedOrder
      }
      switch (json.member("of"), json.member("model")) {
      case (nil, nil): return [.init(FieldOrder(name, isDescending: isDescending))]
      case (.string(let reference)?, let model):
        return [.init(try field(name, of: reference, model), isDescending: isDescending)]
      default: break
      }
    default: break
    }
    throw Self.malformedOrder
  }

  private static let malformedOrder = PersistenceError.invalidRequest(
    "“sort” has names, or objects of “field”, “descending”, and for a field of a related record “of” and “model”"
  )

  /// A field of the record to which a reference leads.
  private func field(_ name: String, of reference: String, _ model: JSONValue?) throws -> RelatedField {
    switch model {
    case .string(let model)?:
      guard !ReservedModel.isReserved(model) else {
        throw PersistenceError.invalidRequest("the server has no model “\(model.prefix(40))”")
      }
      return RelatedField(reference, model: model, field: name)
    case nil:
      if let target = try relations?.target(of: reference, in: schema.name) {
        return RelatedField(reference, model: target.name, field: name)
      }
      throw PersistenceError.invalidRequest(
        "the store lists no target of “\(reference)”; name the other model in “model”")
    default: throw Self.malformedOrder
    }
  }

  /// The inclusions of a text, or of an array.
  func inclusions(_ json: JSONValue) throws -> [RelatedInclusion] {
    guard let relations else { throw PersistenceError.invalidRequest("“include” is not supported here") }
    var reader = InclusionJSON(relations: relations, limits: limits)
    let inclusions = try reader.inclusions(json, of: schema)
    guard !inclusions.isEmpty else { throw PersistenceError.invalidRequest("“include” is empty; omit it") }
    return inclusions
  }

  static func count(_ json: JSONValue, _ name: String) throws -> Int? {
    switch json.member(name) {
    case nil: return nil
    case .number(let text):
      if let number = ExactNumber(text)?.int64, number >= 0 { return Int(number) }
      fallthrough
    default: throw PersistenceError.invalidRequest("“\(name)” is a whole number, 0 or more")
    }
  }
}
