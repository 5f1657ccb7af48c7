import Foundation
import OneFileUnderTest
import PersistenceConformance

let arguments = Array(CommandLine.arguments.dropFirst())

// The suite starts this program again as a second process, and kills it.
if arguments.first == "worker" {
  exit(ConformanceWorker.run(Array(arguments.dropFirst()), on: .oneFile))
}

let report = await ConformanceSuite().run(on: .oneFile)
for entry in report.entries {
  let rules = entry.rules.map(\.rawValue).joined(separator: " ")
  switch entry.outcome {
  case .held: print("held     \(rules)  \(entry.title)")
  case .excused(let capability): print("excused  \(rules)  \(entry.title), by \(capability)")
  case .broken(let failure): print("BROKEN   \(rules)  \(entry.title)\n\(failure)")
  }
}
print(
  "\(report.count(where: \.isHeld)) held, \(report.count(where: \.isExcused)) excused, "
    + "\(report.count(where: \.isBroken)) broken")
exit(report.isConforming ? 0 : 1)
