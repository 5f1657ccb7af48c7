import Foundation
import Persistence

/// The store of before, for changes that the example app does not need.
enum Before: StoreSchema {
  @Persistent("Screening")
  struct Screening {
    var id: Int
    @Indexed var cinema: String
    var seats: Int32
    var price: Float
    var subtitle: String?
  }

  @Persistent("Draft")
  struct Draft {
    var id: Int
    var text: String
  }

  static let models: [any PersistentRecord.Type] = [Screening.self, Draft.self]
}

/// A wider kind, new optionality, indexes and fills; an index and a model are removed.
enum After: StoreSchema {
  @Persistent("Screening")
  struct Screening {
    var id: Int
    var cinema: String
    var seats: Int
    @Indexed var price: Double?
    var subtitle: String?
    @Unique var code: String?
    @Field(fill: Date.distantPast) var added = Date()
  }

  static let models: [any PersistentRecord.Type] = [Screening.self]

  static let evolution: [EvolutionRule] = [
    .remove(index: "cinema", of: "Screening"),
    .remove(model: "Draft"),
  ]
}

/// A declaration that says too little.
enum Unsaid: StoreSchema {
  @Persistent("Screening")
  struct Screening {
    var id: Int
    var cinema: String
    var seats: Int16
    var price: Float
    var subtitle: String
    var hall: String
  }

  static let models: [any PersistentRecord.Type] = [Screening.self]
}

/// The same, with the words that the error asks for.
enum Said: StoreSchema {
  @Persistent("Screening")
  struct Screening {
    var id: Int
    var cinema: String
    @Field("places") var seats: Int16
    var price: Float
    var subtitle: String
    var hall: String = "1"
  }

  static let models: [any PersistentRecord.Type] = [Screening.self]

  static let evolution: [EvolutionRule] = [
    .compute(\Screening.seats, from: "seats") { old in Int16(clamping: try old("seats", as: Int32.self)) },
    .fill(\Screening.subtitle, with: ""),
  ]
}

/// One added field, which needs no schema.
@Persistent("Screening")
struct NotedScreening {
  var id: Int
  @Indexed var cinema: String
  var seats: Int32
  var price: Float
  var subtitle: String?
  var note: String?
}

/// A screening whose genre may be one of a newer version.
@Persistent("GenreScreening")
struct GenreScreening {
  var id: Int
  var genre: Genre
}

enum Genre: RawRepresentable, Hashable, PersistentValueConvertible {
  case drama, comedy
  case other(String)

  init(rawValue: String) {
    switch rawValue {
    case "drama": self = .drama
    case "comedy": self = .comedy
    default: self = .other(rawValue)
    }
  }

  var rawValue: String {
    switch self {
    case .drama: "drama"
    case .comedy: "comedy"
    case .other(let name): name
    }
  }
}

/// The genre of a later version.
@Persistent("GenreScreening")
struct LaterGenreScreening {
  var id: Int
  var genre: String
}
