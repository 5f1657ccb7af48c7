// swift-tools-version: 6.2
import PackageDescription

/// A small app over the package around it; its engine is whichever one a URL names.
let package = Package(
  name: "MoviesApp",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Persistence", path: "../..")],
  targets: [
    .executableTarget(
      name: "MoviesApp",
      dependencies: ["Persistence", "PersistenceSQLite", "PersistenceLMDB", "PersistenceJSON"]
        .map { .product(name: $0, package: "Persistence") },
      swiftSettings: [.treatAllWarnings(as: .error)]),
    // Goes on without its server; ../offline shows it.
    .executableTarget(
      name: "OfflineMovies",
      dependencies: ["Persistence", "PersistenceSQLite", "DataAccess", "PersistenceRemote"]
        .map { .product(name: $0, package: "Persistence") },
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
