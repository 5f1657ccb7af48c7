import Foundation
import OurContexts
import PersistenceConformance

// The context's name, then the command of the suite.
let arguments = CommandLine.arguments.dropFirst()
guard let context = ContextUnderTest.ours.first(where: { $0.name == arguments.first }) else {
  print("usage: ContextWorker memory|sqlite|lmdb|json …")
  exit(64)
}
exit(ConformanceWorker.run(Array(arguments.dropFirst()), on: context))
