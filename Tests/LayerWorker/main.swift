import DataAccess
import Foundation
import OfflineModels
import PersistenceCore
import PersistenceSQLite

// Writes through layers up to a number of writes, starting where a killed process stopped.
//
// LayerWorker run PATH OPTIONS WRITES: PATH is the device's store, and PATH-remote the remote one, which
// survives the process like a server. Prints the number of each finished write.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

let arguments = CommandLine.arguments
guard arguments.count == 5, arguments[1] == "run", let writes = Int(arguments[4]) else {
  say("usage: LayerWorker run PATH OPTIONS WRITES")
  exit(2)
}
let local = try Repository(opening: "sqlite:\(arguments[2])", engines: [.sqlite])
let remote = try Repository(opening: "sqlite:\(arguments[2])-remote", engines: [.sqlite])
var options = LayerOptions<Job>()
options.writes = .localFirst
let source = try LayeredDataSource(
  cache: CacheDataSource(), local: local.dataSource(of: Job.self), remote: remote.dataSource(of: Job.self),
  options: options)

if try local.find(Job.self, id: 0) == nil { try await source.insert(Job(0, count: 0)) }
while let counter = try local.find(Job.self, id: 0), counter.count < writes {
  let number = counter.count + 1
  try await source.apply(ChangeBatch(Job.changes(number, counter)))
  say("ack \(number)")
}
try await source.outbox?.send()
say("done")
