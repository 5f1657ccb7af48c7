import PersistenceDriverSupport

/// What an inclusion includes, apart from the types of its elements.
@usableFromInline
struct InclusionOutline: Sendable {
  /// The models of all levels, as the code declares them.
  @usableFromInline private(set) var models: [any PersistentRecord.Type] = []

  /// What is included, in the words of a server.
  private(set) var descriptions: [@Sendable () throws -> RelatedInclusion] = []

  /// The positions of the fields by which the included records are found.
  private(set) var fields: [@Sendable () throws -> Int] = []

  /// Whether it includes lists, so that a page may have many more records than elements.
  @usableFromInline private(set) var isLong = false

  /// The outline of an inclusion of nothing.
  @usableFromInline static let nothing = InclusionOutline()

  /// The outline with what another one includes.
  @usableFromInline
  func adding(_ other: InclusionOutline) -> InclusionOutline {
    InclusionOutline(
      models: models + other.models, descriptions: descriptions + other.descriptions,
      fields: fields + other.fields, isLong: isLong || other.isLong)
  }

  /// What is included, in the words of a server.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if a server cannot include it.
  func described() throws -> [RelatedInclusion] { try descriptions.map { try $0() } }

  /// The positions of the fields by which the included records are found.
  @usableFromInline
  func positions() throws -> [Int] { try fields.map { try $0() } }
}
