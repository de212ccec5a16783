//! The program `farfield`; the crate's library says how it works.

fn main() -> std::process::ExitCode {
    farfield_cli::main()
}
