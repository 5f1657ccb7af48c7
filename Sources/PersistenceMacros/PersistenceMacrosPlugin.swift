import PersistenceMacroExpansion
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The macros of the package, as the compiler loads them.
///
/// It asks for each by this module's name and a type's. What they do stands in a library, so that tests link that and
/// not this: a package whose tests link a macro is built twice, once as a tool of the build.
@main
struct PersistenceMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    PersistentMacro.self, IDMacro.self, IndexedMacro.self, UniqueMacro.self, TransientMacro.self,
    FieldMacro.self, IndexMacro.self,
  ]
}

enum PersistentMacro: PersistentExpansion {}
enum IDMacro: IDExpansion {}
enum IndexedMacro: IndexedExpansion {}
enum UniqueMacro: UniqueExpansion {}
enum TransientMacro: TransientExpansion {}
enum FieldMacro: FieldExpansion {}
enum IndexMacro: IndexExpansion {}
