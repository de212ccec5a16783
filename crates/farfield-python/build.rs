//! Tells the linker that Python's symbols are resolved when Python loads the module; needed only on macOS.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
