import Foundation
import PersistenceDriver
import PersistenceJSON

/// A model with indexes: books by genre and year, with a unique number and an unindexed title.
enum Books {
  static let folder = "Book"
  static let index = ".persistence/index/Book"
  static let genres = ["crime", "drama", "essay", "satire", "travel"]

  static let schema: ModelSchema = {
    do {
      return try ModelSchema(
        name: "Book",
        fields: [
          FieldSchema("id", .int64), FieldSchema("title", .string), FieldSchema("genre", .string),
          FieldSchema("year", .int32, isOptional: true), FieldSchema("price", .double),
          FieldSchema("number", .string, isOptional: true),
        ], key: ["id"],
        indexes: [
          IndexSchema(["genre", "year"]), IndexSchema(["price"]), IndexSchema(["number"], isUnique: true),
        ])
    } catch {
      // An invalid schema fails every test that uses it.
      preconditionFailure("\(error)")
    }
  }()

  static func row(_ id: Int64) -> [PersistentValue] {
    [
      .integer(id), .text("Title \(id)"), .text(genres[Int(id % 5)]),
      id % 7 == 0 ? .null : .integer(1900 + id % 100), .double(Double(id % 40) / 2), .text("n\(id)"),
    ]
  }

  static func file(_ id: Int64) -> String { "\(folder)/\(id).json" }

  static func genre(_ genre: String) -> PredicateNode { .comparison(field: "genre", .equal, .text(genre)) }

  /// Some of so many books, by their keys.
  static func ids(below count: Int64, _ isWanted: (Int64) -> Bool) -> [Int64] {
    (0..<count).filter(isWanted)
  }

  /// Fills a store, and waits until its files' times are in the past.
  static func fill(_ context: JSONDirectoryContext, _ count: Int64) throws {
    try context.transaction { transaction in
      try transaction.define(schema)
      for id in 0..<count { try transaction.insert(row(id), in: schema) }
    }
    settle()
  }

  /// Waits until the index may cache the files just written.
  static func settle() { usleep(80_000) }
}

extension JSONDirectoryContext {
  /// The number of files that a closure opens.
  func openings(_ body: () throws -> Void) throws -> Int {
    let before = try openedFiles
    try body()
    return try openedFiles - before
  }

  /// The keys of a request's rows, in their order.
  func ids(_ request: FetchRequest) throws -> [Int64] {
    try rows(request).map { row in
      if case .integer(let id) = row[0] { id } else { -1 }
    }
  }

  /// The books of a genre.
  func ids(ofGenre genre: String) throws -> [Int64] {
    try ids(FetchRequest(Books.schema, where: Books.genre(genre)))
  }
}
