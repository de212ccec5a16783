//! Sets the soname of the shared library, so that programs load the major version they were linked with.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let major = env!("CARGO_PKG_VERSION_MAJOR");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libfarfield_c.so.{major}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
