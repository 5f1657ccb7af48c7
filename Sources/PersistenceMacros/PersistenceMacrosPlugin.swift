import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The macros of the package, as the compiler loads them.
@main
struct PersistenceMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    PersistentMacro.self, IDMacro.self, IndexedMacro.self, UniqueMacro.self, TransientMacro.self,
    FieldMacro.self, IndexMacro.self,
  ]
}
