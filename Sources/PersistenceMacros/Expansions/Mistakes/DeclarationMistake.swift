import SwiftDiagnostics
import SwiftSyntax

/// A mistake in a declaration, with a message that states what to do.
///
/// The mistakes are static members, in one extension for each subject.
struct DeclarationMistake: DiagnosticMessage, Error {
  let message: String
  let severity: DiagnosticSeverity
  private let name: String

  /// Creates a mistake with the name of the static member that calls this initializer.
  init(_ message: String, severity: DiagnosticSeverity = .error, member: String = #function) {
    name = String(member.prefix { $0 != "(" })
    self.message = message
    self.severity = severity
  }

  var diagnosticID: MessageID { MessageID(domain: "Persistence", id: name) }

  /// A diagnostic of the mistake at a node.
  func at(_ node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
    Diagnostic(node: Syntax(node), message: self, fixIts: fixIts)
  }
}

/// The title of a fix-it.
struct Repair: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "Persistence", id: "repair") }
}

extension FixIt {
  /// A fix-it that replaces one node with another.
  static func replace(
    _ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String
  ) -> FixIt {
    FixIt(message: Repair(message: message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }
}
