import ExpansionMessages
import Foundation
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport

/// Expands sources for tests: reads a request on each line, and writes its answer as a line.
///
/// Tests that link the expansions would have swift-syntax built a second time, which takes a twelfth of the package's
/// build: once as a part of the compiler's plug-in, and once for the tests. SwiftPM builds this program as it builds the
/// plug-in, of the same sources: the folder `Expansions` is a link to those of the plug-in.
@main
enum ExpansionProbe {
  static func main() throws {
    let decoder = JSONDecoder()
    let encoder = JSONEncoder()
    while let line = readLine() {
      let request = try decoder.decode(ExpansionRequest.self, from: Data(line.utf8))
      try FileHandle.standardOutput.write(contentsOf: encoder.encode(answer(to: request)) + Data("\n".utf8))
    }
  }

  private static func answer(to request: ExpansionRequest) -> ExpansionAnswer {
    let context = BasicMacroExpansionContext()
    let expanded = expand(request.source, in: context)
    return ExpansionAnswer(
      expanded: expanded, mistakes: context.diagnostics.map(\.message),
      failures: request.expectation.map { failures(of: request.source, expanded, expecting: $0) } ?? [])
  }

  private static func expand(_ source: String, in context: BasicMacroExpansionContext) -> String {
    let file = Parser.parse(source: source)
    let known = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")])
    let expanded = file.expand(
      macroSpecs: macros,
      contextGenerator: { syntax in
        BasicMacroExpansionContext(sharingWith: known, lexicalContext: syntax.allMacroLexicalContexts())
      }, indentationWidth: .spaces(2)
    ).description
    for diagnostic in known.diagnostics { context.diagnose(diagnostic) }
    return expanded
  }

  private static func failures(
    of source: String, _ expanded: String, expecting expectation: ExpansionExpectation
  ) -> [String] {
    var failures: [String] = []
    let mistakes = expectation.mistake.map { mistake in
      DiagnosticSpec(
        message: mistake.message, line: mistake.line, column: mistake.column,
        severity: mistake.severity == .error ? .error : .warning,
        fixIts: mistake.fixIts.map { FixItSpec(message: $0) })
    }
    assertMacroExpansion(
      source, expandedSource: expectation.expanded ?? expanded, diagnostics: mistakes.map { [$0] } ?? [],
      macroSpecs: macros, applyFixIts: expectation.mistake?.fixIts.first.map { [$0] },
      fixedSource: expectation.mistake?.fixed, indentationWidth: .spaces(2)
    ) { failures.append($0.message) }
    return failures
  }

  private static let macros: [String: MacroSpec] = [
    "Persistent": MacroSpec(
      type: PersistentMacro.self,
      conformances: [TypeSyntax(IdentifierTypeSyntax(name: .identifier("PersistentRecord")))]),
    "ID": MacroSpec(type: IDMacro.self), "Indexed": MacroSpec(type: IndexedMacro.self),
    "Unique": MacroSpec(type: UniqueMacro.self), "Transient": MacroSpec(type: TransientMacro.self),
    "Field": MacroSpec(type: FieldMacro.self), "OnDelete": MacroSpec(type: OnDeleteMacro.self),
    "Index": MacroSpec(type: IndexMacro.self),
  ]
}
