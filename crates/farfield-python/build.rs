//! Tells the linker that Python's own symbols are found when Python loads the module; needed on macOS alone.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
