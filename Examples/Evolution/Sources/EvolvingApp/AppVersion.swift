import Persistence

/// One version of the app: its models, and what it does with them.
protocol AppVersion: StoreSchema {
  /// Adds the next sample movie and its guest.
  static func add(to repository: Repository) throws

  /// Prints all records.
  static func list(_ repository: Repository) throws
}

/// The records that all versions add, one movie and one guest at a time.
struct Sample {
  let title: String
  let budget: Double
  let length: String
  let guest: String
  let address: String?

  static let all = [
    Sample(
      title: "Alien", budget: 11_000_000, length: "1:57", guest: "Sigourney Weaver",
      address: "Broadway 1, New York"),
    Sample(title: "Ran", budget: 11_500_000, length: "2:42", guest: "Akira Kurosawa", address: nil),
    Sample(
      title: "Brazil", budget: 15_000_000, length: "2:22", guest: "Terry Gilliam",
      address: "Wardour Street 9, London"),
    Sample(
      title: "Heat", budget: 60_000_000, length: "2:50", guest: "Michael Mann",
      address: "Sunset 5, Los Angeles"),
  ]

  /// The sample after a number of others.
  static func next(after count: Int) throws -> Sample {
    guard all.indices.contains(count) else {
      throw PersistenceError(.invalidRequest, "the store contains all \(all.count) samples")
    }
    return all[count]
  }
}
