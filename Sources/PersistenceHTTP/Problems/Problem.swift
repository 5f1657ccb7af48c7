package import PersistenceDriver
import PersistencePrimitives

/// A failure as the body of an answer (RFC 9457).
///
/// It reveals no path, engine message or source location. It explains errors of the client. A failure behind
/// the server is a code and a fixed sentence; the server's log has the details.
package struct Problem: Error, Sendable {
  /// The media type of problems.
  package static let mediaType = "application/problem+json"

  package var status: Int
  /// The code, from which a client makes an error.
  package var code: PersistenceError.Code
  package var detail: String
  package var model: String?
  package var field: String?
  /// The number of the change in a batch that failed, from 0.
  package var change: Int?
  /// What differs between the client's declaration and the store.
  package var differences: [SchemaDifference] = []

  package init(
    status: Int, _ code: PersistenceError.Code, _ detail: String, model: String? = nil, field: String? = nil,
    change: Int? = nil
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.model = model
    self.field = field
    self.change = change
  }

  /// The problem that a client receives for an error.
  package init(_ error: PersistenceError, change: Int? = nil) {
    let rule = ProblemRule.rules[error.code] ?? .hidden
    self.init(
      status: rule.status, rule.code ?? error.code, rule.detail ?? error.message,
      model: rule.detail == nil ? error.model : nil,
      field: rule.detail == nil ? error.field : nil, change: change)
    if rule.code == nil { differences = error.differences }
  }

  package var json: JSONValue {
    var members = [
      JSONMember("type", .string(Self.type(code))),
      JSONMember("title", .string(ProblemRule.title(code))), JSONMember("status", .number("\(status)")),
      JSONMember("detail", .string(detail)), JSONMember("code", .string(code.rawValue)),
    ]
    if let model { members.append(JSONMember("model", .string(model))) }
    if let field { members.append(JSONMember("field", .string(field))) }
    if let change { members.append(JSONMember("change", .number("\(change)"))) }
    if !differences.isEmpty {
      members.append(JSONMember("differences", .array(differences.map(\.json))))
    }
    return .object(members)
  }

  private static func type(_ code: PersistenceError.Code) -> String {
    "urn:persistence:problem:\(code.rawValue)"
  }

  /// Reads the body of an answer; nil if it is not a problem of this package.
  package init?(_ json: JSONValue, status: Int) {
    guard case .string(let code)? = json.member("code"), case .string(let type)? = json.member("type"),
      type == Self.type(PersistenceError.Code(rawValue: code))
    else { return nil }
    func text(_ name: String) -> String? {
      if case .string(let text)? = json.member(name) { text } else { nil }
    }
    self.init(
      status: status, PersistenceError.Code(rawValue: code),
      text("detail") ?? text("title") ?? "status \(status)",
      model: text("model"), field: text("field"))
    if case .number(let number)? = json.member("change") { change = Int(number) }
    if case .array(let elements)? = json.member("differences") {
      differences = elements.compactMap { SchemaDifference($0) }
    }
  }

  /// The error that the server's store threw.
  package func error(at location: String) -> PersistenceError {
    var error = PersistenceError(
      code, change.map { "change \($0) of the batch: \(detail)" } ?? detail, model: model, field: field,
      location: location)
    error.differences = differences
    return error
  }
}
