import SwiftDiagnostics
import SwiftSyntax

/// Something wrong with a declaration, in words that say what to do.
///
/// The mistakes are static members in extensions, by what they are about.
struct DeclarationMistake: DiagnosticMessage, Error {
  let message: String
  let severity: DiagnosticSeverity
  private let name: String

  init(_ name: String, _ message: String, severity: DiagnosticSeverity = .error) {
    self.name = name
    self.message = message
    self.severity = severity
  }

  var diagnosticID: MessageID { MessageID(domain: "Persistence", id: name) }

  /// The mistake, made at a place.
  func at(_ node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
    Diagnostic(node: Syntax(node), message: self, fixIts: fixIts)
  }
}

/// What a fix-it does, in words.
struct Repair: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "Persistence", id: "repair") }

  init(_ message: String) { self.message = message }
}

extension FixIt {
  /// A repair that puts one node in the place of another.
  static func replace(
    _ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String
  ) -> FixIt {
    FixIt(message: Repair(message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }
}
