//! Yokota's claim beside figure 5: how many times as fast the GPU is as one core.

use super::Context;
use super::crossover::{DirectSums, Timing};
use super::measure::On;
use super::published::YOKOTA_GPU_SPEEDUPS;
use super::table::{Cell, Table};
use super::yokota::Bodies;
use crate::Error;
use farfield::Method;

/// Direct sum, treecode and FMM of one size.
struct Row {
    n: usize,
    one_core: [Timing; 3],
    gpu: Option<[Timing; 3]>,
}

/// The three methods on one core and on the graphics processor.
pub fn table(context: &Context) -> Result<Table, Error> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let sizes = if context.quick { 3..=4 } else { 4..=6 };
    let [mut alone, mut on_gpu] = [On::Cpu, On::Gpu].map(DirectSums::on);
    let mut rows = Vec::new();
    for n in context.sizes(sizes.map(|power| 10usize.pow(power))) {
        context.step(format_args!("N = {n}, one core"));
        let bodies = Bodies::new(n);
        let Some(one_core) = one.install(|| measure(On::Cpu, context, &bodies, &mut alone))? else {
            continue;
        };
        let gpu = measure(On::Gpu, context, &bodies, &mut on_gpu)?;
        rows.push(Row { n, one_core, gpu });
    }
    Ok(table_of(&rows))
}

/// `None` where there is no graphics processor.
fn measure(on: On, context: &Context, bodies: &Bodies, direct: &mut DirectSums) -> Result<Option<[Timing; 3]>, Error> {
    let Some(direct) = direct.next(context, bodies.case(Method::Direct))? else {
        return Ok(None);
    };
    let mut times = [direct; 3];
    for (time, method) in times[1..].iter_mut().zip([Method::Treecode, Method::Fmm]) {
        match bodies.case(method).measure_on(on, context, 0)? {
            Some(measured) => *time = Timing::of(&measured),
            None => return Ok(None),
        }
    }
    Ok(Some(times))
}

fn table_of(rows: &[Row]) -> Table {
    let mut table = Table::new([
        ("n", "N"),
        ("method", "method"),
        ("one_core_s", "one core (s)"),
        ("one_core_extrapolated", "extrapolated"),
        ("gpu_s", "GPU (s)"),
        ("gpu_extrapolated", "extrapolated"),
        ("gpu_over_one_core", "GPU over one core"),
        ("paper_gpu_over_one_core", "paper"),
    ]);
    let paper = &YOKOTA_GPU_SPEEDUPS;
    let methods = [
        ("direct", paper.direct),
        ("treecode", paper.treecode),
        ("FMM", paper.fmm),
    ];
    for row in rows {
        for (k, (name, paper)) in methods.into_iter().enumerate() {
            let (one_core, gpu) = (row.one_core[k], row.gpu.map(|times| times[k]));
            table.row([
                Cell::Count(row.n as u64),
                Cell::Text(name.to_owned()),
                Cell::Number(one_core.seconds),
                one_core.mark(),
                gpu.map(|gpu| gpu.seconds).into(),
                gpu.map_or(Cell::Missing, Timing::mark),
                gpu.map(|gpu| one_core.seconds / gpu.seconds).into(),
                Cell::Number(paper),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_stands_beside_one_core_and_the_paper() {
        let time = Timing::measured;
        let rows = [Row {
            n: 1000,
            one_core: [Timing::extrapolated(600.0), time(10.0), time(6.0)],
            gpu: Some([time(2.0), time(0.1), time(0.3)]),
        }];
        let csv = table_of(&rows).csv();
        let lines: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "1000,direct,600,yes,2,no,300,300",
                "1000,treecode,10,no,0.1,no,100,100",
                "1000,FMM,6,no,0.3,no,20,30"
            ]
        );
    }
}
