//! Options of `farfield view` and `farfield run --live`.

use super::run::RunArgs;
use super::value::port;
use clap::Args;
use std::net::IpAddr;

/// `farfield view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// The options of `run`; the first argument is a case, a folder or a file.
    #[command(flatten)]
    pub run: RunArgs,
}

/// How a page is served.
#[derive(Debug, Args)]
pub struct LiveArgs {
    /// Serve the page on this address of the machine, to anyone who knows the token in the printed address [default: to
    /// this machine only]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<IpAddr>,
    /// Port of the page [default: 7878, or any free port]
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Show every step to every viewer, and wait until each has it
    #[arg(long)]
    pub sync: bool,
}
