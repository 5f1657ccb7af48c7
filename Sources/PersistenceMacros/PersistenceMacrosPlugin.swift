import PersistenceMacroExpansion
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The package's macros, as the compiler loads them.
///
/// The compiler requests each macro by this module's name and a type's name. The expansions are in a library,
/// which the program `ExpansionProbe` expands sources with for tests.
@main
struct PersistenceMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    PersistentMacro.self, IDMacro.self, IndexedMacro.self, UniqueMacro.self, TransientMacro.self,
    FieldMacro.self, OnDeleteMacro.self, IndexMacro.self,
  ]
}

enum PersistentMacro: PersistentExpansion {}
enum IDMacro: MarkerExpansion {}
enum IndexedMacro: MarkerExpansion {}
enum UniqueMacro: MarkerExpansion {}
enum TransientMacro: MarkerExpansion {}
enum FieldMacro: MarkerExpansion {}
enum OnDeleteMacro: MarkerExpansion {}
enum IndexMacro: IndexExpansion {}
