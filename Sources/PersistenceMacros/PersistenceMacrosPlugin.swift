import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The package's macros, as the compiler loads them.
///
/// The compiler requests each macro by this module's name and a type's name. The program
/// `ExpansionProbe` of the tests is built of the same expansions.
@main
struct PersistenceMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    PersistentMacro.self, IDMacro.self, IndexedMacro.self, UniqueMacro.self, TransientMacro.self,
    FieldMacro.self, OnDeleteMacro.self, IndexMacro.self,
  ]
}
