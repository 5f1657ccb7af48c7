// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Persistence", path: "..")],
  targets: [
    .executableTarget(
      name: "FirstTen",
      dependencies: [
        .product(name: "PersistenceCore", package: "Persistence"),
        .product(name: "PersistenceSQLite", package: "Persistence"),
        .product(name: "PersistenceLMDB", package: "Persistence"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")])
  ]
)
