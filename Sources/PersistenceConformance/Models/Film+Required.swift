import PersistenceCore

/// Declarations of ``Film`` whose director is required.
extension FilmVersion {
  struct Directed: PersistentRecord {
    var id: Int
    var studio: Reference<Studio>
    var director: Reference<Performer>

    static let schema = RecordSchema<Directed>(
      "Film",
      fields: [.field("id", \.id), .field("studio", \.studio), .field("director", \.director)], key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      studio = try row.decode(at: 1)
      director = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(studio, at: 1)
      row.encode(director, at: 2)
    }
  }

  /// A version whose director is a name, of which the store still keeps that it refers to a performer.
  struct Named: PersistentRecord {
    var id: Int
    var studio: Int
    var director: String

    static let schema = RecordSchema<Named>(
      "Film",
      fields: [.field("id", \.id), .field("studio", \.studio), .field("director", \.director)], key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      studio = try row.decode(at: 1)
      director = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(studio, at: 1)
      row.encode(director, at: 2)
    }
  }
}

extension FilmApp {
  enum Nobody: StoreSchema {
    static let models: [any PersistentRecord.Type] = [
      FilmVersion.Directed.self, Studio.self, Performer.self,
    ]
    static let evolution: [EvolutionRule] = [
      .fill(\FilmVersion.Directed.director, with: Reference("nobody"))
    ]
  }
  enum Named: StoreSchema {
    static let models: [any PersistentRecord.Type] = [FilmVersion.Named.self, Studio.self, Performer.self]
    static let evolution: [EvolutionRule] = [.fill(\FilmVersion.Named.director, with: "ada")]
  }
}
