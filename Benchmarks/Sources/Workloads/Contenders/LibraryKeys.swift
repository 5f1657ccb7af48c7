import Foundation
import PersistenceCore

extension Library {
  /// Stores the movies by their other keys too.
  func fillByOtherKeys() throws {
    try repository.insert(contentsOf: input.byTitle.map(TitledMovie.init))
    try repository.insert(contentsOf: input.byUUID.map(UniqueMovie.init))
  }

  func fetchAllByTitle(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure { Array(try repository.filter(TitledMovie.self).result()) }
    return Answer(movies.lazy.map(\.movie))
  }

  func fetchAllByUUID(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure { Array(try repository.filter(UniqueMovie.self).result()) }
    return Answer(movies.lazy.map(\.movie))
  }

  func getByTitle(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for title in input.titles {
        if let found = try repository.find(TitledMovie.self, id: title) { answer.addLightly(found.movie) }
      }
    }
    return answer
  }

  func getByUUID(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for uuid in input.uuids {
        if let found = try repository.find(UniqueMovie.self, id: uuid) { answer.addLightly(found.movie) }
      }
    }
    return answer
  }
}
