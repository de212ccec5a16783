//! The program `farfield`; see the crate's library.

fn main() -> std::process::ExitCode {
    farfield_cli::main()
}
