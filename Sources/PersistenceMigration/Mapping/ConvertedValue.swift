import PersistenceDriver

/// What became of a value that was to be of another kind.
enum ConvertedValue: Equatable {
  /// It is the same value, in another kind.
  case exact(PersistentValue)
  /// It is the nearest that the kind has; the text says what was lost.
  case rounded(PersistentValue, String)
  /// The kind has nothing for it; the text says why.
  case impossible(String)
}
