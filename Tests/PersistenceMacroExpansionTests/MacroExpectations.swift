import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

import PersistenceMacroExpansion

private enum PersistentMacro: PersistentExpansion {}
private enum IDMacro: MarkerExpansion {}
private enum IndexedMacro: MarkerExpansion {}
private enum UniqueMacro: MarkerExpansion {}
private enum TransientMacro: MarkerExpansion {}
private enum FieldMacro: MarkerExpansion {}
private enum OnDeleteMacro: MarkerExpansion {}
private enum IndexMacro: IndexExpansion {}

private let macros: [String: MacroSpec] = [
  "Persistent": MacroSpec(
    type: PersistentMacro.self,
    conformances: [TypeSyntax(IdentifierTypeSyntax(name: .identifier("PersistentRecord")))]),
  "ID": MacroSpec(type: IDMacro.self), "Indexed": MacroSpec(type: IndexedMacro.self),
  "Unique": MacroSpec(type: UniqueMacro.self), "Transient": MacroSpec(type: TransientMacro.self),
  "Field": MacroSpec(type: FieldMacro.self), "OnDelete": MacroSpec(type: OnDeleteMacro.self),
  "Index": MacroSpec(type: IndexMacro.self),
]

/// Expects that a declaration is valid and expands to a source.
func expect(
  _ source: String, expandsTo expanded: String, fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
  assertMacroExpansion(
    source, expandedSource: expanded, macroSpecs: macros, indentationWidth: .spaces(2),
    failureHandler: record, fileID: fileID, filePath: filePath, line: line, column: column)
}

/// Expects one mistake at the `→` in the source, and no extension if the mistake is an error.
///
/// `fixIts` are the titles of the offered fix-its in order, and `fixed` is the source after the first one.
func expect(
  _ source: String, isMistaken message: String, severity: DiagnosticSeverity = .error, fixIts: [String] = [],
  fixed: String? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column
) {
  let before = source.prefix { $0 != "→" }
  let clean = source.replacing("→", with: "")
  let mistakeLine = before.count { $0 == "\n" } + 1
  let mistakeColumn =
    before.utf8.count - (before.lastIndex(of: "\n").map { before[...$0].utf8.count } ?? 0) + 1
  let expanded = expansion(of: clean)
  let location = Testing.SourceLocation(
    fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
  #expect(
    expanded.contains("nonisolated extension") == (severity != .error),
    "only a valid model is expanded", sourceLocation: location)
  assertMacroExpansion(
    clean, expandedSource: expanded,
    diagnostics: [
      DiagnosticSpec(
        message: message, line: mistakeLine, column: mistakeColumn, severity: severity,
        fixIts: fixIts.map { FixItSpec(message: $0) })
    ],
    macroSpecs: macros, applyFixIts: fixIts.first.map { [$0] }, fixedSource: fixed,
    indentationWidth: .spaces(2), failureHandler: record, fileID: fileID, filePath: filePath, line: line,
    column: column)
}

/// Expects that a declaration is valid, for any expansion.
func expectNoMistake(_ source: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) {
  let context = BasicMacroExpansionContext()
  let expanded = expand(source, in: context)
  #expect(context.diagnostics.map(\.message) == [], sourceLocation: sourceLocation)
  #expect(expanded.contains("nonisolated extension"), sourceLocation: sourceLocation)
}

/// The expansion of a source, with or without mistakes.
func expansion(of source: String) -> String { expand(source, in: BasicMacroExpansionContext()) }

private func expand(_ source: String, in context: BasicMacroExpansionContext) -> String {
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

private func record(_ failure: TestFailureSpec) {
  let location = failure.location
  Issue.record(
    "\(failure.message)",
    sourceLocation: Testing.SourceLocation(
      fileID: location.fileID, filePath: location.filePath, line: location.line, column: location.column))
}

/// The messages of all mistakes in a source.
func mistakes(in source: String) -> [String] {
  let context = BasicMacroExpansionContext()
  _ = expand(source, in: context)
  return context.diagnostics.map(\.message)
}
