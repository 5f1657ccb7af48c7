#if HTTP
  /// A description of a third-party server: its paths, its parameters, and the structure of its answers.
  ///
  /// A query that the server does not support throws ``PersistenceError/Code/unsupported`` before any request: a
  /// predicate without a parameter, several values of one field, an unsupported order, or a batch. The server
  /// decides how text sorts and how ties break, so layers do not rely on the order of its answers.
  ///
  /// ```swift
  /// var mapping = RemoteMapping()
  /// mapping.collections["Movie"] = "/api/v2/films"
  /// mapping.members["imdbID"] = "imdb_id"
  /// mapping.records = ["data", "items"]
  /// let movies = try RemoteServer("https://films.example.com", mapping: mapping).dataSource(of: Movie.self)
  /// ```
  public struct RemoteMapping: Sendable, Hashable {
    /// The method that replaces a record.
    public enum Replacing: String, Sendable, Hashable {
      /// PUT.
      case put = "PUT"
      /// PATCH.
      case patch = "PATCH"
    }

    /// The predicates that the server supports.
    public enum Conditions: Sendable, Hashable {
      /// None: every query reads whole collections.
      case none
      /// A conjunction of equalities, each a parameter with the member's name.
      case equalities
    }

    /// The path of each model's collection.
    ///
    /// The default is `/` and the model's name.
    ///
    /// A record's path is the path of its collection and the values of its key.
    public var collections: [String: String] = [:]
    /// The JSON members whose names differ from those of the fields.
    public var members: [String: String] = [:]
    /// The path of members to the records in a query's answer; empty if the answer is their array.
    public var records: [String] = []
    /// The path of members to the record in the answer for one record; empty if the answer is the record.
    public var record: [String] = []
    /// The path of members to the total number of records in a query's answer; empty if the answer lacks it.
    ///
    /// Without a total, an iteration ends at an empty page, since a server may return shorter pages than
    /// requested.
    public var total: [String] = []
    /// The predicates that the server supports.
    public var conditions = Conditions.equalities
    /// The parameter for the order: comma-separated members, with `-` for descending; nil if unsupported.
    public var sort: String? = "sort"
    /// The parameter for the number of records; nil if the server returns all records at once.
    public var limit: String? = "limit"
    /// The parameter for the number of records to skip; nil if unsupported.
    public var offset: String? = "offset"
    /// The number of records of one request.
    public var pageSize = 100
    /// The method that replaces a record.
    public var replacing = Replacing.put

    /// Creates a mapping with the names of the models and fields.
    public init() {}
  }
#endif
