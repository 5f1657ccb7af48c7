import Foundation
import OneFileUnderTest
import PersistenceConformance

let arguments = Array(CommandLine.arguments.dropFirst())

// The suite starts this program again as a second process, and kills it.
if arguments.first == "worker" {
  exit(ConformanceWorker.run(Array(arguments.dropFirst()), on: .oneFile))
}

// `--quick` runs the inner loop, `--only W5` the checks of a rule.
let rules = zip(arguments, arguments.dropFirst()).filter { $0.0 == "--only" }.map { $0.1 }
let known = ContractRule.allCases.filter { rules.contains($0.rawValue) }
guard known.count == Set(rules).count,
  arguments.count == 2 * rules.count + (arguments.contains("--quick") ? 1 : 0)
else {
  print("usage: OneFileConform [--quick] [--only RULE …]")
  exit(64)
}
let suite = ConformanceSuite(only: Set(known), isQuick: arguments.contains("--quick"))
let report = await suite.run(on: .oneFile)
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
