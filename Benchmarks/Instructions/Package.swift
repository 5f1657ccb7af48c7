// swift-tools-version: 6.2
import PackageDescription

// A separate package without GRDB or other third-party packages, because CI builds it.
// The movie and its records are symbolic links to those of the workloads.
let settings: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
  name: "Instructions",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Persistence", path: "../.."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .target(name: "SeededRandom", swiftSettings: settings),
    .executableTarget(
      name: "Instructions",
      dependencies: ["SeededRandom", .product(name: "Logging", package: "swift-log")]
        + ["Core", "SQLite", "LMDB", "JSON"].map {
          .product(name: "Persistence\($0)", package: "Persistence")
        },
      swiftSettings: settings,
      // Valgrind up to 3.19 fails on Swift's debug information.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"], .when(platforms: [.linux]))]),
  ]
)
