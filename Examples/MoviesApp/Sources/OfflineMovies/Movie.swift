#if HTTP
  import Persistence

  /// A movie on a shelf that several devices share through a server.
  @Persistent
  struct Movie: Hashable {
    var id: String
    @Indexed var title: String
    var year: Int
    var stars: Int?
  }
#endif
