// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
let driver = Target.Dependency.product(name: "PersistenceDriver", package: "Persistence")
let conformance = Target.Dependency.product(name: "PersistenceConformance", package: "Persistence")

/// A context by another author, as the guide "Write your own context" explains it: being a package of its own, it
/// sees nothing of Persistence but what is public.
let package = Package(
  name: "OneFile",
  platforms: [.macOS(.v15)],
  products: [.library(name: "OneFile", targets: ["OneFile"])],
  dependencies: [.package(name: "Persistence", path: "../..")],
  targets: [
    .target(name: "OneFile", dependencies: [driver], swiftSettings: settings),
    // The suite from an executable, which is also the process that the suite kills.
    .executableTarget(
      name: "OneFileConform", dependencies: ["OneFile", "OneFileUnderTest", conformance],
      swiftSettings: settings),
    // How the suite opens stores: said once, for the tests and for the executable.
    .target(name: "OneFileUnderTest", dependencies: ["OneFile", conformance], swiftSettings: settings),
    .testTarget(
      name: "OneFileTests", dependencies: ["OneFileUnderTest", "OneFileConform", conformance],
      swiftSettings: settings),
  ]
)
