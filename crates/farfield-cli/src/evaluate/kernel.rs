//! The request that the options describe. Options that do not belong to the kernel are refused.

use crate::args::{EvaluateArgs, KernelName};
use crate::failure::Failure;
use farfield::names::{FromWords, UnknownName, Words};
use farfield::plane::Plane;
use farfield::{Request, Space};

/// A request in space or in the plane.
pub enum AnyRequest {
    Space(Request<Space>),
    Plane(Request<Plane>),
}

impl AnyRequest {
    /// The kernel and outputs of the command line, with default options.
    pub fn new(args: &EvaluateArgs) -> Result<Self, Failure> {
        check_options(args)?;
        if args.kernel.is_plane() {
            request(args).map(AnyRequest::Plane)
        } else {
            request(args).map(AnyRequest::Space)
        }
    }
}

/// Refuses options that belong to other kernels.
fn check_options(args: &EvaluateArgs) -> Result<(), Failure> {
    use KernelName::{BiotSavart, Coulomb, Gravity, Harmonic2d, Log2d};
    let options: [(&str, bool, &[KernelName]); 7] = [
        ("--core", args.core.is_some(), &[BiotSavart, Harmonic2d, Log2d]),
        (
            "--allow-unbounded-gradient",
            args.allow_unbounded_gradient,
            &[BiotSavart],
        ),
        ("--softening", args.softening.is_some(), &[Gravity]),
        ("--softening-kernel", args.softening_kernel.is_some(), &[Gravity]),
        (
            "--gravitational-constant",
            args.gravitational_constant.is_some(),
            &[Gravity],
        ),
        ("--dipoles", args.dipoles.is_some(), &[Coulomb]),
        ("--complex", args.complex, &[Harmonic2d, Log2d]),
    ];
    for (option, given, kernels) in options {
        if given && !kernels.contains(&args.kernel) {
            let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
            return Err(Failure::Usage(format!(
                "{option} goes with --kernel {} only",
                names.join(" or ")
            )));
        }
    }
    if args.core_size.is_some() && args.core.as_deref().is_none_or(|core| core == "singular") {
        return Err(Failure::Usage("--core-size: the singular core has no size".to_owned()));
    }
    Ok(())
}

fn request<G: FromWords>(args: &EvaluateArgs) -> Result<Request<G>, Failure> {
    let kernel = match args.dipoles {
        Some(_) => "coulomb-dipoles",
        None => args.kernel.name(),
    };
    let words = Words {
        kernel,
        core: args.core.as_deref().or(args.softening_kernel.as_deref()),
        constant: args.gravitational_constant.unwrap_or(1.0),
        complex: args.complex,
        outputs: &args.outputs,
    };
    let wrong = |UnknownName { what, name, known }| {
        Failure::Usage(format!(
            "--{}: `{name}` does not go with --kernel {}; choose from: {}",
            what.replace('_', "-"),
            args.kernel.name(),
            known.join(", ")
        ))
    };
    let mut request = G::request(&words).map_err(wrong)?;
    let has = G::outputs(request.kernel);
    // In the plane the library itself explains why a regularised field lacks an output.
    let missing = request.outputs.iter().find(|output| !has.contains(output));
    if let Some(output) = missing.filter(|_| !args.kernel.is_plane()) {
        let known = has.iter().map(|output| G::output_name(*output)).collect();
        let (what, name) = ("outputs", G::output_name(*output).to_owned());
        return Err(wrong(UnknownName { what, name, known }));
    }
    // Each output only once.
    let mut outputs = Vec::new();
    for output in request.outputs {
        if !outputs.contains(&output) {
            outputs.push(output);
        }
    }
    request.outputs = outputs;
    Ok(request)
}
