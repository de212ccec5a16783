//! `farfield-mpi model`: a forecast of time, bytes and messages.

use super::args::ModelArgs;
use farfield_cli::failure::Failure;
use farfield_io::units;
use farfield_mpi::model::{Forecast, Machine};
use serde_json::json;

/// Runs the command.
pub fn run(args: &ModelArgs) -> Result<String, Failure> {
    let machine = Machine {
        seconds_per_million: args.seconds_per_million,
        latency: args.latency,
        bandwidth: args.bandwidth,
        ..Machine::default()
    };
    let numbers = [args.n, args.seconds_per_million, args.latency, args.bandwidth];
    if !numbers.iter().all(|number| number.is_finite() && *number > 0.0) || args.ranks.contains(&0) {
        return Err(Failure::Usage(
            "--ranks, --n, --seconds-per-million, --latency and --bandwidth must be positive".to_owned(),
        ));
    }
    if !(1e-12..=1e-2).contains(&args.tolerance) {
        return Err(Failure::Usage("--tolerance: must be from 1e-12 to 1e-2".to_owned()));
    }
    let alone = Forecast::new(args.n, 1.0, args.tolerance, &machine).seconds();
    let of = |ranks: &u64| Forecast::new(args.n, *ranks as f64, args.tolerance, &machine);
    let forecasts: Vec<Forecast> = args.ranks.iter().map(of).collect();
    let efficiency = |forecast: &Forecast| alone / (forecast.ranks * forecast.seconds());
    if args.json {
        let rows = forecasts.iter().map(|forecast| {
            json!({
                "ranks": forecast.ranks,
                "own": forecast.own,
                "received": forecast.received,
                "equivalent": forecast.equivalent,
                "bytes": forecast.bytes,
                "messages": forecast.messages,
                "engine_seconds": forecast.engine,
                "network_seconds": forecast.network,
                "seconds": forecast.seconds(),
                "efficiency": efficiency(forecast),
            })
        });
        let record = json!({ "n": args.n, "tolerance": args.tolerance, "forecast": rows.collect::<Vec<_>>() });
        return Ok(format!("{record:#}\n"));
    }
    let mut text = format!("{:e} points in a cube, tolerance {:e}\n", args.n, args.tolerance);
    text +=
        "  ranks        own   received equivalent   MB/rank messages     engine    network      total  efficiency\n";
    for forecast in &forecasts {
        text += &format!(
            "{:7} {:10.3e} {:10.3e} {:10.3e} {:9.1} {:8.0} {:>10} {:>10} {:>10} {:10.0}%\n",
            forecast.ranks,
            forecast.own,
            forecast.received,
            forecast.equivalent,
            forecast.bytes / 1e6,
            forecast.messages,
            units::seconds(forecast.engine),
            units::seconds(forecast.network),
            units::seconds(forecast.seconds()),
            100.0 * efficiency(forecast),
        );
    }
    Ok(text)
}
