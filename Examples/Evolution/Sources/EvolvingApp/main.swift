import Foundation
import Persistence
import PersistenceJSON
import PersistenceLMDB
import PersistenceSQLite

/// Prints a note to standard error, and ends the program.
func fail(_ text: String) -> Never {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
  exit(1)
}

let versions: [String: any AppVersion.Type] = ["1": Version1.self, "2": Version2.self, "3": Version3.self]
let words = CommandLine.arguments
guard words.count == 4, let version = versions[words[1]], ["add", "list"].contains(words[2]) else {
  fail("EvolvingApp 1|2|3 add|list URL, as in EvolvingApp 1 add sqlite:movies.sqlite")
}
let url = words[3]

do {
  let repository = try Repository(opening: url, engines: [.sqlite, .lmdb, .json], schema: version)
  if words[2] == "add" { try version.add(to: repository) }
  try version.list(repository)
  try repository.close()
} catch let error as PersistenceError where error.code == .newerStore {
  fail("Version \(words[1]) of this app is too old for the store: \(error.message)")
} catch {
  fail("\(error)")
}
