//! The kernel that the options describe. Options that do not go with it are refused.

use crate::args::{EvaluateArgs, KernelName};
use crate::failure::Failure;
use crate::problem::{Named, Plane, Space, named};
use farfield::{kernel, plane};

/// A kernel in space or in the plane.
pub enum AnyKernel {
    Space(Space),
    Plane(Plane),
}

impl AnyKernel {
    /// Puts the kernel's options together.
    pub fn new(args: &EvaluateArgs) -> Result<Self, Failure> {
        check_options(args)?;
        let space = |kernel, size| space(args, kernel, size).map(AnyKernel::Space);
        match args.kernel {
            KernelName::Coulomb if args.dipoles.is_some() => space(kernel::Kernel::CoulombDipoles, None),
            KernelName::Coulomb => space(kernel::Kernel::Coulomb, None),
            KernelName::Gravity => {
                let constant = args.gravitational_constant.unwrap_or(1.0);
                // Without softening it is Newton's law, and the singular kernel is cheaper.
                let softening = args.softening.filter(|size| *size > 0.0);
                let all = kernel::Softening::ALL;
                let name = args.softening_kernel.as_deref();
                let kind = all.into_iter().find(|softening| Some(softening.name()) == name);
                let kernel = kernel::Kernel::Gravity {
                    constant,
                    softening: kind.unwrap_or_default(),
                };
                space(kernel, softening)
            }
            KernelName::BiotSavart => {
                let core = core_of(args, kernel::Core::Singular, &kernel::Core::ALL)?;
                space(kernel::Kernel::BiotSavart { core }, args.core_size)
            }
            KernelName::Harmonic2d => plane(args, plane::Kernel::Harmonic).map(AnyKernel::Plane),
            KernelName::Log2d => plane(args, plane::Kernel::Log).map(AnyKernel::Plane),
        }
    }
}

/// Refuses options of other kernels.
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
    Ok(())
}

fn space(args: &EvaluateArgs, kernel: kernel::Kernel, size: Option<f64>) -> Result<Space, Failure> {
    Ok(Space {
        kernel,
        size,
        outputs: outputs_of(args, kernel.outputs())?,
    })
}

fn plane(args: &EvaluateArgs, kernel: plane::Kernel) -> Result<Plane, Failure> {
    Ok(Plane {
        kernel,
        core: core_of(args, plane::Core::Singular, &plane::Core::ALL)?,
        size: args.core_size,
        outputs: outputs_of(args, &plane::Output::ALL)?,
        complex: args.complex,
    })
}

/// The core asked for; a singular one has no size.
fn core_of<C: Named>(args: &EvaluateArgs, singular: C, all: &[C]) -> Result<C, Failure> {
    let core = match &args.core {
        Some(name) => named("--core", name, args.kernel.name(), all)?,
        None => singular,
    };
    if core == singular && args.core_size.is_some() {
        return Err(Failure::Usage("--core-size: the singular core has no size".to_owned()));
    }
    Ok(core)
}

/// The outputs asked for, each once, or the first of those there are.
fn outputs_of<O: Named>(args: &EvaluateArgs, all: &[O]) -> Result<Vec<O>, Failure> {
    let mut outputs = Vec::new();
    for name in &args.outputs {
        let output = named("--outputs", name, args.kernel.name(), all)?;
        if !outputs.contains(&output) {
            outputs.push(output);
        }
    }
    if outputs.is_empty() {
        outputs.extend(all.first());
    }
    Ok(outputs)
}
