import PersistenceDriver
import PersistencePrimitives

/// Finds the stored fields that declared fields and sources of computations mean.
struct FieldResolver {
  /// Where a source of a computation is.
  enum Origin {
    case stored(Int)
    /// The store lacks it; the name that the declaration gives the field.
    case absent(String)
  }

  let declaration: ModelDeclaration
  let stored: ModelSchema
  let history: ModelHistory

  private var declared: ModelSchema { declaration.schema }

  /// The stored field that a declared one means: of the same name, of an earlier name, of the name that it got later, or
  /// the hidden one that a rule restores.
  func position(of declaredPosition: Int) -> Int? {
    let field = declared.fields[declaredPosition]
    if let position = stored.position(of: field.name) { return position }
    for name in declaration.fields[declaredPosition].formerNames {
      if let position = stored.position(of: name), declared.position(of: name) == nil { return position }
    }
    return laterPosition(of: field.name)
      ?? restoredPast(of: declaredPosition).flatMap { stored.position(of: $0.name) }
  }

  /// The place of a source, under any name that it has or had.
  func origin(of source: String) -> Origin {
    if let position = stored.position(of: source) { return .stored(position) }
    let named = declared.position(of: source)
    let renamed = declaration.fields.firstIndex { $0.formerNames.containsName(source) }
    if let field = named ?? renamed {
      return position(of: field).map { .stored($0) } ?? .absent(declared.fields[field].name)
    }
    return laterPosition(of: source).map { .stored($0) } ?? .absent(source)
  }

  /// What the store remembers of a removed field that a declared one means, by a rule that restores it; nil if there is
  /// none.
  func restoredPast(of declaredPosition: Int) -> ModelHistory.Field? {
    guard !declaration.restoredFields.isEmpty else { return nil }
    let names = [declared.fields[declaredPosition].name] + declaration.fields[declaredPosition].formerNames
    guard declaration.restoredFields.contains(where: names.containsName) else { return nil }
    return names.lazy.compactMap { history.field(formerly: $0) }.first(where: \.isRemoved)
  }

  /// The position of a field that the store has renamed.
  private func laterPosition(of name: String) -> Int? {
    guard let past = history.field(formerly: name), !past.isRemoved, declared.position(of: past.name) == nil
    else { return nil }
    return stored.position(of: past.name)
  }
}
