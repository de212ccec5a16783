//! `farfield view`, and the options of `farfield run --live`, as typed.

use super::run::RunArgs;
use super::value::port;
use clap::Args;
use std::net::IpAddr;

/// `farfield view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// The case, the folder or the file is the first argument of these.
    #[command(flatten)]
    pub run: RunArgs,
}

/// How a page is served.
#[derive(Debug, Args)]
pub struct LiveArgs {
    /// Serve the page on this address of the machine, to anyone who knows the token in the printed address
    /// [default: this machine alone]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<IpAddr>,
    /// The page's port [default: 7878, or any that is free]
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Show every step to every viewer, and wait for that
    #[arg(long)]
    pub sync: bool,
}
