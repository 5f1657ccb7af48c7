#if HTTP
  import Foundation
  import Persistence

  /// Prints a note to standard error.
  func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  let usage = """
    OfflineMovies list | add TITLE YEAR | rate ID STARS | remove ID | sync
    MOVIES_FILE names the file on this device (movies.sqlite), MOVIES_SERVER the server (http://127.0.0.1:8080).
    """

  do {
    let environment = ProcessInfo.processInfo.environment
    let shelf = try Shelf(
      file: environment["MOVIES_FILE"] ?? "movies.sqlite",
      server: environment["MOVIES_SERVER"] ?? "http://127.0.0.1:8080")
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("list", 1): try await shelf.list()
    case ("add", 3):
      guard let year = Int(words[2]) else {
        throw PersistenceError(.invalidRequest, "\(words[2]) is not a year")
      }
      try await shelf.add(words[1], year: year)
    case ("rate", 3):
      guard let stars = Int(words[2]) else {
        throw PersistenceError(.invalidRequest, "\(words[2]) is not a number")
      }
      try await shelf.rate(words[1], stars: stars)
    case ("remove", 2): try await shelf.remove(words[1])
    case ("sync", 1): try await shelf.sync()
    default:
      note(usage)
      exit(2)
    }
    try shelf.close()
  } catch {
    note("\(error)")
    exit(1)
  }
#else
  print("OfflineMovies needs the trait HTTP: swift run --enable-all-traits OfflineMovies")
#endif
