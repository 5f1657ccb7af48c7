import PersistenceCore

/// Declarations of ``Film`` in other versions of the app.
enum FilmVersion {
  /// A later version: other names, and another rule.
  struct Movie: PersistentRecord {
    var id: Int
    var title = ""
    var house: Reference<Company>
    var director: Reference<Performer>?

    init(_ id: Int, house: Int) { (self.id, self.house) = (id, Reference(house)) }

    static let schema = RecordSchema<Movie>(
      "Movie", was: ["Film"],
      fields: [
        .field("id", \.id), .field("title", \.title),
        .field("house", \.house, was: ["studio"], onDelete: .cascade),
        .field("director", \.director, onDelete: .setNil),
      ], key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      house = try row.decode(at: 2)
      director = try row.decode(at: 3)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(title, at: 1)
      row.encode(house, at: 2)
      row.encode(director, at: 3)
    }
  }

  /// ``Studio`` under its later name.
  struct Company: PersistentRecord {
    var id: Int
    var name = ""
    var parent: Reference<Company>?

    init(_ id: Int) { self.id = id }

    static let schema = RecordSchema<Company>(
      "Company", was: ["Studio"],
      fields: [.field("id", \.id), .field("name", \.name), .field("parent", \.parent, onDelete: .cascade)],
      key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      name = try row.decode(at: 1)
      parent = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(name, at: 1)
      row.encode(parent, at: 2)
    }
  }

  /// ``Film`` with studios under a name that does not say what they were.
  struct Unsaid: PersistentRecord {
    var id: Int
    var studio: Reference<Firm>

    static let schema = RecordSchema<Unsaid>(
      "Film", fields: [.field("id", \.id), .field("studio", \.studio)], key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws { (id, studio) = (try row.decode(at: 0), try row.decode(at: 1)) }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(studio, at: 1)
    }
  }

  /// ``Studio`` under another name, without a word.
  struct Firm: PersistentRecord {
    var id: Int

    static let schema = RecordSchema<Firm>("Firm", fields: [.field("id", \.id)], key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws { id = try row.decode(at: 0) }

    func encode(into row: RowBuffer) throws { row.encode(id, at: 0) }
  }

  /// An earlier version, whose fields have another order.
  struct Early: PersistentRecord {
    var id: Int
    var studio: Int
    var title = ""

    init(_ id: Int, studio: Int) { (self.id, self.studio) = (id, studio) }

    static let schema = RecordSchema<Early>(
      "Film", fields: [.field("id", \.id), .field("studio", \.studio), .field("title", \.title)], key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      studio = try row.decode(at: 1)
      title = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(studio, at: 1)
      row.encode(title, at: 2)
    }
  }

  /// A version without a director, whose studio is not its rule's.
  struct Undirected: PersistentRecord {
    var id: Int
    var title = ""
    var studio: Reference<Studio>

    init(_ id: Int, studio: Int) { (self.id, self.studio) = (id, Reference(studio)) }

    static let schema = RecordSchema<Undirected>(
      "Film",
      fields: [.field("id", \.id), .field("title", \.title), .field("studio", \.studio, onDelete: .cascade)],
      key: [\.id])
    var primaryKey: Int { id }

    init(from row: borrowing Row) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      studio = try row.decode(at: 2)
    }

    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(title, at: 1)
      row.encode(studio, at: 2)
    }
  }
}

/// The versions of an app with ``Film``.
enum FilmApp {
  enum Early: StoreSchema {
    static let models: [any PersistentRecord.Type] = [FilmVersion.Early.self, Studio.self]
  }
  enum Plain: StoreSchema {
    static let models: [any PersistentRecord.Type] = [PlainFilm.self, Studio.self, Performer.self]
  }
  enum Related: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Film.self, Studio.self, Performer.self]
  }
  enum Settled: StoreSchema {
    static let models = Related.models
    static let evolution: [EvolutionRule] = [
      .orphans(\Film.studio, .cascade), .orphans(\Film.director, .setNil),
    ]
  }
  enum Stepped: StoreSchema {
    static let models = Related.models
    static let evolution: [EvolutionRule] = [
      .step(making: Film.self) { _, new in
        try new.save(contentsOf: [Film(1, studio: 1), Film(2, studio: 9)])
      },
      .step(making: Studio.self) { _, new in try new.save(Studio(1)) },
      .orphans(\Film.studio, .cascade),
    ]
  }
  enum Ended: StoreSchema {
    static let models = Plain.models
    static let evolution: [EvolutionRule] = [
      .remove(reference: \PlainFilm.studio), .remove(reference: \PlainFilm.director),
    ]
  }
  /// Ends a reference that it declares.
  enum Contradictory: StoreSchema {
    static let models = Related.models
    static let evolution: [EvolutionRule] = [.remove(reference: \Film.studio)]
  }
  enum Renamed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [
      FilmVersion.Movie.self, FilmVersion.Company.self, Performer.self,
    ]
  }
  enum Unsaid: StoreSchema {
    static let models: [any PersistentRecord.Type] = [FilmVersion.Unsaid.self, FilmVersion.Firm.self]
  }
  enum Undirected: StoreSchema {
    static let models: [any PersistentRecord.Type] = [
      FilmVersion.Undirected.self, Studio.self, Performer.self,
    ]
    static let evolution: [EvolutionRule] = [.remove("director", from: "Film")]
  }
  enum WithoutStudios: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Film.self, Performer.self]
    static let evolution: [EvolutionRule] = [.remove(model: "Studio")]
  }
}
