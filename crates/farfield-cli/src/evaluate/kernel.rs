//! The request that the options describe. Options that do not belong to the kernel are refused.

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use farfield::kernel::{Description, Kernel};
use farfield::names::{FromWords, UnknownName, Words};
use farfield::plane::{self, Plane};
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
        if is_plane(args) {
            request(args).map(AnyRequest::Plane)
        } else {
            request(args).map(AnyRequest::Space)
        }
    }
}

fn is_plane(args: &EvaluateArgs) -> bool {
    plane::Kernel::ALL
        .into_iter()
        .any(|kernel| kernel.name() == args.kernel)
}

/// Refuses options of other kernels.
fn check_options(args: &EvaluateArgs) -> Result<(), Failure> {
    let in_plane = || plane::Kernel::ALL.map(plane::Kernel::name);
    let options = [
        (
            "--core",
            args.core.is_some(),
            [cores_called("core"), in_plane().to_vec()].concat(),
        ),
        (
            "--allow-unbounded-gradient",
            args.allow_unbounded_gradient,
            with(|kernel| kernel.regularisation.is_some_and(|core| core.unbounded_gradient)),
        ),
        (
            "--softening",
            args.softening.is_some(),
            cores_called("softening_kernel"),
        ),
        (
            "--softening-kernel",
            args.softening_kernel.is_some(),
            cores_called("softening_kernel"),
        ),
        (
            "--gravitational-constant",
            args.gravitational_constant.is_some(),
            with(|kernel| kernel.constant.is_some()),
        ),
        ("--dipoles", args.dipoles.is_some(), vec!["coulomb"]),
        ("--complex", args.complex, in_plane().to_vec()),
    ];
    for (option, given, kernels) in options {
        if given && !kernels.contains(&args.kernel.as_str()) {
            return Err(Failure::Usage(format!(
                "{option} goes with --kernel {} only",
                kernels.join(" or ")
            )));
        }
    }
    if args.core_size.is_some() && args.core.as_deref().is_none_or(|core| core == "singular") {
        return Err(Failure::Usage("--core-size: the singular core has no size".to_owned()));
    }
    Ok(())
}

/// The kernels in space, some of whose variants have a property.
fn with(property: impl Fn(&Description) -> bool) -> Vec<&'static str> {
    let all = Kernel::all().into_iter().map(Kernel::description);
    let mut names: Vec<&str> = all.filter(property).map(|kernel| kernel.name).collect();
    names.dedup();
    names
}

/// The kernels in space whose regularisation goes by this word.
fn cores_called(word: &str) -> Vec<&'static str> {
    with(|kernel| kernel.regularisation.is_some() && kernel.core_word == word)
}

fn request<G: FromWords>(args: &EvaluateArgs) -> Result<Request<G>, Failure> {
    let kernel = match args.dipoles {
        Some(_) => "coulomb-dipoles",
        None => &args.kernel,
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
            args.kernel,
            known.join(", ")
        ))
    };
    let mut request = G::request(&words).map_err(wrong)?;
    let has = G::outputs(request.kernel);
    // In the plane the library itself explains why a regularised field lacks an output.
    let missing = request.outputs.iter().find(|output| !has.contains(output));
    if let Some(output) = missing.filter(|_| !is_plane(args)) {
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
