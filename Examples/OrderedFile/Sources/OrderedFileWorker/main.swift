import Foundation
import OrderedFileUnderTest
import PersistenceConformance

// The suite starts this program as a second process, and kills it.
exit(ConformanceWorker.run(Array(CommandLine.arguments.dropFirst()), on: .orderedFile))
