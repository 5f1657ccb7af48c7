import Foundation
import PersistenceDriver
import PersistencePrimitives

/// What the rules about one field make of it.
struct FieldMapping {
  let field: FieldSchema
  let conversion: ValueConversion?
  let filling: PersistentValue?

  /// Puts the rules together; nil where the field is left out.
  init?(_ source: FieldSchema, _ rules: [MigrationMapping.Rule], in schema: ModelSchema) throws {
    func contradiction(_ reason: String) -> PersistenceError {
      PersistenceError(
        .invalidRequest, "the rules about “\(source.name)” of \(schema.name) do not fit together: \(reason)",
        model: schema.name, field: source.name)
    }
    var (name, kind, dates, filling): (String?, FieldKind?, [DateForm], String?) = (nil, nil, [], nil)
    var isDropped = false
    for rule in rules {
      switch rule.action {
      case .drop:
        guard rules.count == 1 else { throw contradiction("it is left out, and more") }
        isDropped = true
      case .rename(let new):
        guard name == nil else { throw contradiction("it is renamed twice") }
        name = new
      case .convert(let new, let forms):
        guard kind == nil else { throw contradiction("it is converted twice") }
        guard forms.isEmpty || new == .date else { throw contradiction("only dates have forms") }
        (kind, dates) = (new, forms)
      case .fill(let value):
        guard filling == nil else { throw contradiction("it has two defaults") }
        guard source.isOptional else { throw contradiction("it has a default, and is never nil") }
        filling = value
      }
    }
    if isDropped { return nil }
    let target = kind ?? source.kind
    if target == .date, source.kind != .date, dates.isEmpty {
      throw contradiction(
        "how dates stand in it is not said; write as:date(iso8601), as:date(unix) or another form")
    }
    if source.kind == .date, !dates.isEmpty { throw contradiction("its values are dates already") }
    if [.bool, .data, .uuid].contains(source.kind), !dates.isEmpty {
      throw contradiction("its values are neither texts nor numbers")
    }
    field = FieldSchema(name ?? source.name, target, isOptional: source.isOptional && filling == nil)
    conversion = target == source.kind ? nil : ValueConversion(kind: target, dates: dates)
    self.filling = try filling.map { text in
      guard let value = Self.value(text, target) else {
        throw contradiction("the default “\(text)” is no \(target.rawValue)")
      }
      return value
    }
  }

  /// The value of a default, written as in CSV.
  private static func value(_ text: String, _ kind: FieldKind) -> PersistentValue? {
    switch kind {
    case .data: return Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
    case .document: return (try? JSONParser.parse(text)).map { .document(JSONText.canonical($0)) }
    case .date: return ISO8601Reader.seconds(text).map { .date($0) }
    default:
      guard case .exact(let value) = ValueConversion(kind: kind).convert(.text(text)) else { return nil }
      return value
    }
  }
}
