import GRDB

struct GRDBStudio: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "studio"
  static let films = hasMany(GRDBFilm.self, key: "films")

  var id: Int
  var name: String
  var country: Int
}

struct GRDBFilm: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "film"
  static let studio = belongsTo(GRDBStudio.self)

  var id: Int
  var title: String
  var votes: Int
  var studioId: Int
}

struct GRDBFilmInfo: Decodable, FetchableRecord {
  var film: GRDBFilm
  var studio: GRDBStudio
}

struct GRDBStudioInfo: Decodable, FetchableRecord {
  var studio: GRDBStudio
  var films: [GRDBFilm]
}

/// The database of the raw contender, read by GRDB's associations.
final class GRDBStore {
  private let queue: DatabaseQueue

  init(_ path: String) throws { queue = try DatabaseQueue(path: path) }

  func page(after id: Int, size: Int) throws -> [GRDBFilmInfo] {
    try queue.read { database in
      try GRDBFilm.including(required: GRDBFilm.studio).filter(Column("id") > id).order(Column("id")).limit(
        size
      )
      .asRequest(of: GRDBFilmInfo.self).fetchAll(database)
    }
  }

  func studios(upTo id: Int) throws -> [GRDBStudioInfo] {
    try queue.read { database in
      try GRDBStudio.including(all: GRDBStudio.films).filter(Column("id") <= id).order(Column("id"))
        .asRequest(of: GRDBStudioInfo.self).fetchAll(database)
    }
  }
}
