//! Typed launches: each kernel has a struct of parameters, and the device's compiler compares the two.
//!
//! [`parameters!`] declares the struct, [`kernels!`] says which kernel takes which. From these come static assertions that
//! are compiled with every program: the kernel's parameters have the struct's types in the struct's order, and the struct has
//! the size and the offsets that the compiler gives it. [`device_struct!`] does the same for structs that kernels declare
//! themselves. A kernel and its launch cannot drift apart: the program would not compile.
//!
//! Kernels keep a list of parameters instead of taking the struct whole: pointers inside a struct are not `__restrict__`.

use crate::error::{DriverCall, Error};
use cudarc::driver::{CudaFunction, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, LaunchArgs, LaunchConfig};
use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// A type that kernels know.
pub trait DeviceType {
    /// What arrays of it are made of on the host: itself, or the numbers that several of make one.
    type Host;

    /// Its name in CUDA.
    fn name() -> String;

    /// Assertions that it is laid out as kernels declare it; none for numbers.
    fn checks() -> String {
        String::new()
    }
}

/// Types that are named alike on the host and in kernels, or stand for several numbers of an array.
macro_rules! device_types {
    ($($(#[$attribute:meta])* $Name:ident: $Host:ty = $cuda:literal;)+) => {
        $(
            $(#[$attribute])*
            #[derive(Debug, Clone, Copy)]
            pub(crate) struct $Name;

            impl DeviceType for $Name {
                type Host = $Host;
                fn name() -> String {
                    $cuda.to_owned()
                }
            }
        )+
    };
}

device_types! {
    /// Two numbers: where something starts and ends.
    RangeOf: [u32; 2] = "Range";
    /// Two numbers: where a list starts, and its length.
    Row: [u32; 2] = "Row";
    /// A number that other blocks change meanwhile.
    Changing: u32 = "volatile unsigned int";
    /// Two numbers.
    Pair: [u32; 2] = "uint2";
}

macro_rules! numbers {
    ($($Number:ty = $cuda:literal;)+) => {
        $(impl DeviceType for $Number {
            type Host = $Number;
            fn name() -> String {
                $cuda.to_owned()
            }
        })+
    };
}

numbers! {
    f32 = "float";
    f64 = "double";
    u8 = "unsigned char";
    u16 = "unsigned short";
    i32 = "int";
    u32 = "unsigned int";
    u64 = "unsigned long long";
}

/// Structs of kernels that the host only knows as so many numbers `T` each.
macro_rules! made_of_numbers {
    ($($(#[$attribute:meta])* $Name:ident = $cuda:literal;)+) => {
        $(
            $(#[$attribute])*
            #[derive(Debug, Clone, Copy)]
            pub(crate) struct $Name<T>(PhantomData<T>);

            impl<T> DeviceType for $Name<T> {
                type Host = T;
                fn name() -> String {
                    $cuda.to_owned()
                }
            }
        )+
    };
}

made_of_numbers! {
    /// A packed source.
    Source = "Source";
    /// A packed source in the precision of the sum, where the program has another.
    PackedSource = "PackedSource";
    /// The strengths of a source in several vectors.
    Charges = "Charges";
    /// A complex number, or a point of the plane.
    Complex = "complex";
    /// The rectangle around a box's points.
    Rectangle = "Rectangle";
}

/// The address of values that a kernel reads.
#[repr(transparent)]
pub(crate) struct In<E>(u64, PhantomData<*const E>);

/// The address of values that a kernel writes.
#[repr(transparent)]
pub(crate) struct Out<E>(u64, PhantomData<*mut E>);

macro_rules! addresses {
    ($($Address:ident: $before:literal;)+) => {
        $(
            impl<E> Clone for $Address<E> {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl<E> Copy for $Address<E> {}

            impl<E> std::fmt::Debug for $Address<E> {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    write!(f, "{:#x}", self.0)
                }
            }

            // SAFETY: one address, which kernels take as a pointer.
            unsafe impl<E> DeviceRepr for $Address<E> {}

            impl<E: DeviceType> DeviceType for $Address<E> {
                type Host = Self;
                fn name() -> String {
                    format!(concat!($before, "{} *"), E::name())
                }
                fn checks() -> String {
                    E::checks()
                }
            }

            impl<E> $Address<E> {
                /// Nowhere.
                pub const NONE: Self = Self(0, PhantomData);
            }
        )+
    };
}

addresses! {
    In: "const ";
    Out: "";
}

impl<E: DeviceType> In<E> {
    /// Where an array or a part of one starts.
    pub fn of(array: &impl DevicePtr<E::Host>) -> Self {
        Self(array.device_ptr(array.stream()).0, PhantomData)
    }

    /// The same of an array that may be missing.
    pub fn of_any(array: Option<&impl DevicePtr<E::Host>>) -> Self {
        array.map_or(Self::NONE, Self::of)
    }
}

impl<E: DeviceType> Out<E> {
    /// Where an array or a part of one starts.
    pub fn of(array: &mut impl DevicePtrMut<E::Host>) -> Self {
        let stream = array.stream().clone();
        let (address, _written) = array.device_ptr_mut(&stream);
        Self(address, PhantomData)
    }

    /// The same of an array that the kernel reads as well, or that several launches write parts of.
    pub fn shared(array: &impl DevicePtr<E::Host>) -> Self {
        Self(array.device_ptr(array.stream()).0, PhantomData)
    }

    /// So many of the host's values further on.
    pub fn plus(self, values: usize) -> Self {
        Self(self.0 + (values * std::mem::size_of::<E::Host>()) as u64, PhantomData)
    }
}

/// The parameters of a kernel.
pub(crate) trait Parameters {
    /// Hands each to a launch, in order.
    fn push<'a>(&'a self, launch: &mut LaunchArgs<'a>);

    /// Assertions that a kernel takes these.
    fn checks(kernel: &str) -> String;
}

/// A loaded kernel, its name and what it takes.
pub(crate) struct Function<P> {
    function: CudaFunction,
    name: &'static str,
    parameters: PhantomData<fn(P)>,
}

impl<P> Clone for Function<P> {
    fn clone(&self) -> Self {
        Self::new(self.function.clone(), self.name)
    }
}

impl<P> std::fmt::Debug for Function<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl<P> Function<P> {
    pub(super) fn new(function: CudaFunction, name: &'static str) -> Self {
        Self {
            function,
            name,
            parameters: PhantomData,
        }
    }

    /// Lets a block have so many bytes of dynamic shared memory.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), Error> {
        use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
        self.function
            .set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)
            .map_err(Error::driver(format!("give {} its shared memory", self.name)))
    }
}

/// The blocks of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub grid: (u32, u32, u32),
    pub threads: u32,
    pub shared_bytes: u32,
}

impl Blocks {
    /// So many blocks of so many threads.
    pub fn new(grid: (u32, u32, u32), threads: u32) -> Self {
        Self {
            grid,
            threads,
            shared_bytes: 0,
        }
    }

    /// A row of blocks.
    pub fn row(blocks: u32, threads: u32) -> Self {
        Self::new((blocks, 1, 1), threads)
    }

    /// A thread for each of `items`.
    pub fn over(items: u32, threads: u32) -> Self {
        Self::row(items.div_ceil(threads), threads)
    }

    /// With so many bytes of dynamic shared memory each.
    pub fn shared(self, shared_bytes: u32) -> Self {
        Self { shared_bytes, ..self }
    }
}

impl<P: Parameters> Function<P> {
    /// Launches it on a stream. Whoever fills the parameters vouches that the kernel stays inside the memory they name.
    pub fn launch(&self, stream: &Arc<CudaStream>, blocks: Blocks, parameters: &P) -> Result<(), Error> {
        let mut launch = stream.launch_builder(&self.function);
        parameters.push(&mut launch);
        let config = LaunchConfig {
            grid_dim: blocks.grid,
            block_dim: (blocks.threads, 1, 1),
            shared_mem_bytes: blocks.shared_bytes,
        };
        // SAFETY: the compiler found that the kernel's parameters are those of `P`; the lengths they name are the kernel's
        // callers', and `selftest` compares what kernels do with the CPU.
        unsafe { launch.launch(config) }.map_err(Error::driver(format!("launch {}", self.name)))?;
        Ok(())
    }
}

/// One member of a struct: name, type in CUDA (not asked for in structs that kernels declare), offset and size.
pub(crate) struct Member {
    pub name: &'static str,
    pub cuda: String,
    pub offset: usize,
    pub size: usize,
}

/// Assertions that a struct known to the compiler has this size and these members. Where members lie is asked only with
/// `FARFIELD_CHECK_LAYOUT`, as the tests do: not every libnvrtc can say it while it compiles.
pub(crate) fn layout_checks(name: &str, size: usize, members: &[Member]) -> String {
    let mut text = format!("static_assert(sizeof({name}) == {size}, \"the size of {name}\");\n");
    text.push_str("#ifdef FARFIELD_CHECK_LAYOUT\n");
    for Member {
        name: member,
        offset,
        size,
        ..
    } in members
    {
        let _ = writeln!(
            text,
            "static_assert(FARFIELD_OFFSET({name}, {member}) == {offset} && sizeof((({name} *)0)->{member}) == {size}, \
             \"{name}::{member}\");"
        );
    }
    text.push_str("#endif\n");
    text
}

/// Assertions that a kernel takes these parameters, and that a struct of them is laid out as on the host.
pub(crate) fn signature_checks(kernel: &str, size: usize, members: &[Member]) -> String {
    let name = format!("farfield_{kernel}_parameters");
    let (mut declared, mut types) = (String::new(), Vec::new());
    for member in members {
        let _ = write!(declared, " {} {};", member.cuda, member.name);
        types.push(member.cuda.as_str());
    }
    format!(
        "struct {name} {{{declared} }};\n{}static_assert(farfield_same<decltype(&{kernel}), void (*)({})>::value, \"the \
         parameters of {kernel}\");\n",
        layout_checks(&name, size, members),
        types.join(", ")
    )
}

/// What assertions need. The run-time compiler has no `offsetof`; `__INTADDR__` is what its headers define that by.
pub(crate) const ASSERTIONS: &str = "
#define FARFIELD_OFFSET(type, member) __INTADDR__(&(((type *)0)->member))
template <class A, class B> struct farfield_same { static constexpr bool value = false; };
template <class A> struct farfield_same<A, A> { static constexpr bool value = true; };
";

/// A kernel's parameters: `parameters! { /// Doc. struct P2m<T> { tree: In<Header>, count: u32 } }`, in the kernel's order.
macro_rules! parameters {
    ($($(#[$attribute:meta])* $visibility:vis struct $Name:ident $(<$T:ident>)? {
        $($field:ident: $type:ty),+ $(,)?
    })+) => {
        $(
            $(#[$attribute])*
            #[repr(C)]
            #[derive(Debug, Clone, Copy)]
            $visibility struct $Name $(<$T: $crate::device::Precision>)? {
                $(pub $field: $type,)+
            }

            impl $(<$T: $crate::device::Precision>)? $crate::device::Parameters for $Name $(<$T>)? {
                fn push<'a>(&'a self, launch: &mut cudarc::driver::LaunchArgs<'a>) {
                    use cudarc::driver::PushKernelArg;
                    $(launch.arg(&self.$field);)+
                }

                fn checks(kernel: &str) -> String {
                    use $crate::device::{DeviceType, Member, signature_checks};
                    let mut text = String::new();
                    $(text += &<$type as DeviceType>::checks();)+
                    let members = [$(Member {
                        name: stringify!($field),
                        cuda: <$type as DeviceType>::name(),
                        offset: std::mem::offset_of!(Self, $field),
                        size: std::mem::size_of::<$type>(),
                    }),+];
                    text + &signature_checks(kernel, std::mem::size_of::<Self>(), &members)
                }
            }
        )+
    };
}
pub(crate) use parameters;

/// A struct that kernels declare as well, under the name after `=`:
/// `device_struct! { /// Doc. struct Header = "Tree" { side: f64 } }`.
macro_rules! device_struct {
    ($(#[$attribute:meta])* $visibility:vis struct $Name:ident $(<$T:ident>)? = $cuda:literal {
        $($(#[$member:meta])* $member_visibility:vis $field:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$attribute])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        $visibility struct $Name $(<$T>)? {
            $($(#[$member])* $member_visibility $field: $type,)+
        }

        // SAFETY: numbers and addresses, laid out as the kernels' struct: see `checks`.
        unsafe impl $(<$T: cudarc::driver::DeviceRepr>)? cudarc::driver::DeviceRepr for $Name $(<$T>)? {}

        impl $(<$T>)? $crate::device::DeviceType for $Name $(<$T>)? {
            type Host = Self;

            fn name() -> String {
                $cuda.to_owned()
            }

            fn checks() -> String {
                let members = [$($crate::device::Member {
                    name: stringify!($field),
                    cuda: String::new(),
                    offset: std::mem::offset_of!(Self, $field),
                    size: std::mem::size_of::<$type>(),
                }),+];
                $crate::device::layout_checks($cuda, std::mem::size_of::<Self>(), &members)
            }
        }
    };
}
pub(crate) use device_struct;

/// The kernels of one program by name, with what each takes: `kernels! { /// Doc. struct Kernels<T> { p2m: P2m<T> } }`.
macro_rules! kernels {
    ($(#[$attribute:meta])* $visibility:vis struct $Name:ident $(<$T:ident>)? {
        $($kernel:ident: $Parameters:ty),+ $(,)?
    }) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $Name $(<$T: $crate::device::Precision>)? {
            $(pub $kernel: $crate::device::Function<$Parameters>,)+
        }

        impl $(<$T: $crate::device::Precision>)? $Name $(<$T>)? {
            /// The program with assertions that its kernels take what they are launched with.
            $visibility fn check(program: $crate::compile::Program) -> $crate::compile::Program {
                use $crate::device::Parameters;
                program$(.check(stringify!($kernel), <$Parameters>::checks))+
            }

            $visibility fn load(
                device: &$crate::device::Device,
                program: &$crate::compile::Program,
            ) -> Result<Self, $crate::error::Error> {
                Ok(Self { $($kernel: device.function(program, stringify!($kernel))?,)+ })
            }
        }
    };
}
pub(crate) use kernels;

#[cfg(test)]
mod tests {
    use super::*;

    parameters! {
        /// Of a kernel that no one launches.
        struct Example<T> { values: In<T>, count: u32, scale: T, out: Out<u64> }
    }

    #[test]
    fn a_kernel_is_asked_for_the_types_sizes_and_offsets_of_its_struct() {
        let text = Example::<f64>::checks("example");
        for part in [
            "struct farfield_example_parameters { const double * values; unsigned int count; double scale; unsigned long long * \
             out; };",
            "sizeof(farfield_example_parameters) == 32",
            "FARFIELD_OFFSET(farfield_example_parameters, scale) == 16",
            "farfield_same<decltype(&example), void (*)(const double *, unsigned int, double, unsigned long long *)>",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(
            Example::<f32>::checks("example").contains("FARFIELD_OFFSET(farfield_example_parameters, scale) == 12")
        );
    }
}
