/// How to speak with a server that is none of this package: its paths, its parameters, and where records stand in its
/// answers.
///
/// What such a server cannot be asked throws ``PersistenceError/Code/unsupported``, before anything is sent: conditions
/// that it has no parameters for, several values of one field, orders where it has none, and batches. Texts are ordered and
/// ties broken as that server does: layers do not take its first ten for those that would be the first ten here.
///
/// ```swift
/// var mapping = RemoteMapping()
/// mapping.collections["Movie"] = "/api/v2/films"
/// mapping.members["imdbID"] = "imdb_id"
/// mapping.records = ["data", "items"]
/// let movies = try RemoteServer("https://films.example.com", mapping: mapping).dataSource(of: Movie.self)
/// ```
public struct RemoteMapping: Sendable, Hashable {
  /// How a record is replaced.
  public enum Replacing: String, Sendable, Hashable {
    /// By PUT.
    case put = "PUT"
    /// By PATCH.
    case patch = "PATCH"
  }

  /// Which conditions the server takes.
  public enum Conditions: Sendable, Hashable {
    /// None: only whole collections are asked for.
    case none
    /// Fields that equal values, joined by and: each a parameter of the member's name.
    case equalities
  }

  /// The path of each model's collection; `/` and the model's name where none is given.
  ///
  /// A record's path is that of its
  /// collection and the values of its key.
  public var collections: [String: String] = [:]
  /// The members' names where they are not those of the fields.
  public var members: [String: String] = [:]
  /// The names of the members that lead to the records in the answer to a query; empty where the answer is their array.
  public var records: [String] = []
  /// The names of the members that lead to the record in the answer about one; empty where the answer is the record.
  public var record: [String] = []
  /// The names of the members that lead to the number of records that a query has, in the answer to it; empty where the
  /// answer does not say.
  ///
  /// Without it a walk ends at a page without records, since a server may give shorter pages than it is asked for.
  public var total: [String] = []
  /// Which conditions the server takes.
  public var conditions = Conditions.equalities
  /// The parameter of an order: members with commas, `-` before one for descending; nil where there is none.
  public var sort: String? = "sort"
  /// The parameter of how many records are wanted; nil where there is none, so that all come at once.
  public var limit: String? = "limit"
  /// The parameter of how many records are passed over; nil where there is none.
  public var offset: String? = "offset"
  /// How many records are asked for at once.
  public var pageSize = 100
  /// How a record is replaced.
  public var replacing = Replacing.put

  /// A mapping to paths and members of the models' and fields' own names.
  public init() {}
}
