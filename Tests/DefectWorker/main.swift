import Foundation
import PersistenceConformance
import PlantedDefects

// The context's name, then the command of the suite.
let arguments = CommandLine.arguments.dropFirst()
let contexts = PlantedDefect.all.map(\.context) + PlantedDefect.Control.all.map(\.context)
guard let context = contexts.first(where: { $0.name == arguments.first }) else {
  print("usage: DefectWorker DEFECT …")
  exit(64)
}
exit(ConformanceWorker.run(Array(arguments.dropFirst()), on: context))
