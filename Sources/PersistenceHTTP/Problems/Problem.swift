package import PersistenceDriver
import PersistencePrimitives

/// What went wrong, as an answer says it (RFC 9457).
///
/// Nothing of the machine is in it: no path, no message of an engine, no place in the sources. What a client did wrong is
/// explained; what failed behind the server is a code and a fixed sentence, and the whole of it stands in the server's log.
package struct Problem: Error, Sendable {
  /// The media type of such answers.
  package static let mediaType = "application/problem+json"

  /// The status of the answer.
  package var status: Int
  /// The code, which a client turns into an error again.
  package var code: PersistenceError.Code
  /// What went wrong here.
  package var detail: String
  /// The model that it is about.
  package var model: String?
  /// The field that it is about.
  package var field: String?
  /// The number of the change in a batch that it is about, from 0.
  package var change: Int?

  /// Makes a problem.
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

  /// The problem that an error is to a client.
  package init(_ error: PersistenceError, change: Int? = nil) {
    guard let rule = ProblemRule.rules[error.code] else {
      let hidden = ProblemRule.hidden
      self.init(status: hidden.status, .engineFailure, hidden.detail ?? "", change: change)
      return
    }
    self.init(
      status: rule.status, error.code, rule.detail ?? error.message,
      model: rule.detail == nil ? error.model : nil,
      field: rule.detail == nil ? error.field : nil, change: change)
  }

  /// The body of the answer.
  package var json: JSONValue {
    var members = [
      JSONMember("type", .string(Self.type(code))),
      JSONMember("title", .string(ProblemRule.title(code))), JSONMember("status", .number("\(status)")),
      JSONMember("detail", .string(detail)), JSONMember("code", .string(code.rawValue)),
    ]
    if let model { members.append(JSONMember("model", .string(model))) }
    if let field { members.append(JSONMember("field", .string(field))) }
    if let change { members.append(JSONMember("change", .number("\(change)"))) }
    return .object(members)
  }

  private static func type(_ code: PersistenceError.Code) -> String {
    "urn:persistence:problem:\(code.rawValue)"
  }

  /// Reads the body of an answer; nil where it is no problem of ours.
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
  }

  /// The error that a store would have thrown where the server is.
  package func error(at location: String) -> PersistenceError {
    PersistenceError(
      code, change.map { "change \($0) of the batch: \(detail)" } ?? detail, model: model, field: field,
      location: location)
  }
}
