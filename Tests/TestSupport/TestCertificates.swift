import Foundation

/// Certificates and keys for servers in tests, made with openssl on 2026-11-23, valid for 100 years.
///
/// The keys are public, so nothing but tests may trust the issuer.
package enum TestCertificates {
  /// The certificate of the issuer of all others.
  package static let issuer = """
    -----BEGIN CERTIFICATE-----
    MIIBqjCCAVGgAwIBAgIUbW/0eyrU9M/pm/6nIGBfp45/UHIwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXUGVyc2lzdGVuY2UgdGVzdCBpc3N1ZXIwIBcNMjYxMTIzMDUy
    OTM0WhgPMjEyNjEwMzAwNTI5MzRaMCIxIDAeBgNVBAMMF1BlcnNpc3RlbmNlIHRl
    c3QgaXNzdWVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENbJPmDjACOc3w9MS
    BK1wQkpRUBafeNmiYizMSpccfF7ROmSJvXnqPoeE5oIe7FA1PpMHeKFfyin4yRw5
    A3cNH6NjMGEwHQYDVR0OBBYEFCZFPUKtIuwFBBdNvWENNNtVfXxyMB8GA1UdIwQY
    MBaAFCZFPUKtIuwFBBdNvWENNNtVfXxyMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0P
    AQH/BAQDAgEGMAoGCCqGSM49BAMCA0cAMEQCIBGrlCPBqz6CEOWcaNf4SgfuPotl
    UjIMBdsEQOFC0OBgAiBxQx0hvErRWigdrC/Yx+aQixi/P0pr60zdXv9igeJcRA==
    -----END CERTIFICATE-----
    """

  /// A certificate for `localhost`, `127.0.0.1` and `::1`.
  package static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIByDCCAW2gAwIBAgIUWYTkFGhNBT+7CEmH4J352girERMwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXUGVyc2lzdGVuY2UgdGVzdCBpc3N1ZXIwIBcNMjYxMTIzMDUy
    OTM0WhgPMjEyNjEwMzAwNTI5MzRaMA8xDTALBgNVBAMMBGhlcmUwWTATBgcqhkjO
    PQIBBggqhkjOPQMBBwNCAASaIWiCBJfiCeQNOnS7GMsexTU+wQbwjwicMsr7+8id
    8UcwUaq4klI//xK+EKnky46cWcOabZEt955q27+C0gedo4GRMIGOMCwGA1UdEQQl
    MCOCCWxvY2FsaG9zdIcEfwAAAYcQAAAAAAAAAAAAAAAAAAAAATATBgNVHSUEDDAK
    BggrBgEFBQcDATAJBgNVHRMEAjAAMB0GA1UdDgQWBBSlc8HBFcROX1ixZLf/fKSp
    K0YjuzAfBgNVHSMEGDAWgBQmRT1CrSLsBQQXTb1hDTTbVX18cjAKBggqhkjOPQQD
    AgNJADBGAiEAyNRzFLnfj+N3+E1bdGyKZOE1t2aWDYVzrA+tQK3opowCIQDwdLgq
    xatuxRSsAj9rPhtgJViejzRrhfLNqSNjIqhMXw==
    -----END CERTIFICATE-----
    """

  /// The key of ``certificate``.
  package static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjSujYLVpgjXasXB0
    EZY8Pn+7HEf7qbfOeufFF7wnKpWhRANCAASaIWiCBJfiCeQNOnS7GMsexTU+wQbw
    jwicMsr7+8id8UcwUaq4klI//xK+EKnky46cWcOabZEt955q27+C0ged
    -----END PRIVATE KEY-----
    """

  /// A certificate for `other.example`.
  package static let otherCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBsjCCAVigAwIBAgIUWYTkFGhNBT+7CEmH4J352girERQwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXUGVyc2lzdGVuY2UgdGVzdCBpc3N1ZXIwIBcNMjYxMTIzMDUy
    OTM0WhgPMjEyNjEwMzAwNTI5MzRaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAEWueuaX9zuFDbUI765mH2Ii1izHMSGWzQnZYhH4jv
    83I8ozw4PGUz0Tm4ggYzWY0b1Vx2t9rUTyy6UG2ehZ9za6N8MHowGAYDVR0RBBEw
    D4INb3RoZXIuZXhhbXBsZTATBgNVHSUEDDAKBggrBgEFBQcDATAJBgNVHRMEAjAA
    MB0GA1UdDgQWBBRpjYuYmDvObn9vpX0scjActsdinjAfBgNVHSMEGDAWgBQmRT1C
    rSLsBQQXTb1hDTTbVX18cjAKBggqhkjOPQQDAgNIADBFAiEAnlgwuupnOmsp7A/F
    1rt9/pqRS7oJLdi7gd6vSyfXV20CIB09eKjA1m3+eYYrQ8fYeZEmTbZ/sPZDyu/0
    fwd34lK+
    -----END CERTIFICATE-----
    """

  /// The key of ``otherCertificate``.
  package static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdtqXl6JP/O+q4PJO
    RAWaGvPb9r08+P4GGFGBnoA3aBihRANCAARa565pf3O4UNtQjvrmYfYiLWLMcxIZ
    bNCdliEfiO/zcjyjPDg8ZTPRObiCBjNZjRvVXHa32tRPLLpQbZ6Fn3Nr
    -----END PRIVATE KEY-----
    """

  /// A certificate for `localhost` and `127.0.0.1` that has expired.
  package static let expiredCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBtDCCAVqgAwIBAgIUWYTkFGhNBT+7CEmH4J352girERUwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXUGVyc2lzdGVuY2UgdGVzdCBpc3N1ZXIwHhcNMjYxMTIzMDUy
    OTM0WhcNMjYxMTIyMDUyOTM0WjASMRAwDgYDVQQDDAdleHBpcmVkMFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAELy4TuW7cpVoSs/+LeO1d78eVEgSvnZ3kQSy0O0iI
    ib9TGZHkm8qxhX4A+3TsW5L88gpHXM1sv9cj09SkmOfjXqN+MHwwGgYDVR0RBBMw
    EYIJbG9jYWxob3N0hwR/AAABMBMGA1UdJQQMMAoGCCsGAQUFBwMBMAkGA1UdEwQC
    MAAwHQYDVR0OBBYEFNDQ0UJ6kd0yAZRrbP2EBmvHqHiOMB8GA1UdIwQYMBaAFCZF
    PUKtIuwFBBdNvWENNNtVfXxyMAoGCCqGSM49BAMCA0gAMEUCIDT1Le7KekIfUhYz
    XWnYhyyNPx3UqkNcYAmW+eK7W9aJAiEA3KzRE2giwLpIu+UrI5YTKmbAbkpsQRRb
    KosXajnd1L0=
    -----END CERTIFICATE-----
    """

  /// The key of ``expiredCertificate``.
  package static let expiredKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2tOegiQpFgwJZgt0
    cOW3oG00vFr56zG3UG+aGHrSgp+hRANCAAQvLhO5btylWhKz/4t47V3vx5USBK+d
    neRBLLQ7SIiJv1MZkeSbyrGFfgD7dOxbkvzyCkdczWy/1yPT1KSY5+Ne
    -----END PRIVATE KEY-----
    """
}

/// A folder of files that is removed with its last reference.
package final class TestFiles: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID())")

  /// Creates an empty folder.
  package init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The path of the folder.
  package var path: String { folder.path }

  /// Writes a file that only its owner can read, unless a mode is given.
  ///
  /// - Returns: Its path.
  package func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file.path
  }
}
