import Foundation
import OurContexts
import PersistenceConformance

// The context's name, then the command of the suite.
let arguments = CommandLine.arguments.dropFirst()
let contexts = [
  ContextUnderTest.ours, ContextUnderTest.checked, ContextUnderTest.wrapped, ContextUnderTest.wrappedDurable,
  ContextUnderTest.unsynchronized,
].flatMap { $0 }
guard let context = contexts.first(where: { $0.name == arguments.first }) else {
  print("usage: ContextWorker memory|sqlite|lmdb|json|postgres|… …")
  exit(64)
}
exit(ConformanceWorker.run(Array(arguments.dropFirst()), on: context))
