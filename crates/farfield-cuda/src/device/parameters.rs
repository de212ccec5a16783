//! Typed launches: each kernel has a struct of parameters, and the device compiler verifies that they match.
//!
//! [`parameters!`] declares the struct, [`kernels!`] assigns it to a kernel. They generate static assertions that are
//! compiled with every program: the kernel's parameters have the types of the struct in the same order, and the struct
//! has the same size and offsets on both sides. [`device_struct!`] does the same for structs that kernels declare
//! themselves. If a kernel and its launch differ, the program does not compile.
//!
//! Kernels take a list of parameters rather than the struct, because pointers inside a struct are not `__restrict__`.

use crate::error::{DriverCall, Error};
use cudarc::driver::{CudaFunction, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, LaunchArgs, LaunchConfig};
use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// A type that kernels can use.
pub trait DeviceType {
    /// The element type of its arrays on the host: itself, or the numbers it consists of.
    type Host;

    /// Its name in CUDA.
    fn name() -> String;

    /// Assertions that its layout is that of the kernels' declaration; empty for numbers.
    fn checks() -> String {
        String::new()
    }
}

/// Numbers and structs of numbers, for which anything that a device leaves in memory is a valid value.
///
/// # Safety
/// Any bits are a valid value.
pub unsafe trait AnyBits: DeviceRepr {}

// SAFETY: any bits are valid for each of its values.
unsafe impl<T: AnyBits, const N: usize> AnyBits for [T; N] {}

/// Types that have the same name on the host and in kernels, or stand for several numbers of an array.
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
    /// Two numbers: start and end.
    RangeOf: [u32; 2] = "Range";
    /// Two numbers: the start of a list and its length.
    Row: [u32; 2] = "Row";
    /// A number that other blocks may change concurrently.
    Changing: u32 = "volatile unsigned int";
    /// Two numbers.
    Pair: [u32; 2] = "uint2";
}

macro_rules! numbers {
    ($($Number:ty = $cuda:literal;)+) => {
        $(
            impl DeviceType for $Number {
                type Host = $Number;
                fn name() -> String {
                    $cuda.to_owned()
                }
            }

            // SAFETY: a number.
            unsafe impl AnyBits for $Number {}
        )+
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

/// Structs of kernels that the host treats as arrays of numbers `T`.
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
    /// A packed source in the precision of the sum, if the program has another.
    PackedSource = "PackedSource";
    /// The strengths of a source in several vectors.
    Charges = "Charges";
    /// A complex number, or a point of the plane.
    Complex = "complex";
    /// The bounding rectangle of a box's points.
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
            // SAFETY: the host never follows the address.
            unsafe impl<E> AnyBits for $Address<E> {}

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
                /// The null address.
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
    /// The address of an array or a part of it.
    pub fn of(array: &impl DevicePtr<E::Host>) -> Self {
        Self(array.device_ptr(array.stream()).0, PhantomData)
    }

    /// The address of an array, or null for `None`.
    pub fn of_any(array: Option<&impl DevicePtr<E::Host>>) -> Self {
        array.map_or(Self::NONE, Self::of)
    }
}

impl<E: DeviceType> Out<E> {
    /// The address of an array or a part of it.
    pub fn of(array: &mut impl DevicePtrMut<E::Host>) -> Self {
        let stream = array.stream().clone();
        let (address, _written) = array.device_ptr_mut(&stream);
        Self(address, PhantomData)
    }

    /// The address of an array that the kernel also reads, or of which several launches write parts.
    pub fn shared(array: &impl DevicePtr<E::Host>) -> Self {
        Self(array.device_ptr(array.stream()).0, PhantomData)
    }

    /// The address advanced by `values` host values.
    pub fn plus(self, values: usize) -> Self {
        Self(self.0 + (values * std::mem::size_of::<E::Host>()) as u64, PhantomData)
    }
}

/// The parameters of a kernel.
pub(crate) trait Parameters {
    /// Passes the parameters to a launch, in order.
    fn push<'a>(&'a self, launch: &mut LaunchArgs<'a>);

    /// Assertions that a kernel takes these parameters.
    fn checks(kernel: &str) -> String;
}

/// A loaded kernel with parameters `P`.
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

    /// Allows `bytes` bytes of dynamic shared memory per block.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), Error> {
        use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
        self.function
            .set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)
            .map_err(Error::driver(format!("set the shared memory of {}", self.name)))
    }
}

/// The grid of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub grid: (u32, u32, u32),
    pub threads: u32,
    pub shared_bytes: u32,
}

impl Blocks {
    /// A grid of blocks with `threads` threads each.
    pub fn new(grid: (u32, u32, u32), threads: u32) -> Self {
        Self {
            grid,
            threads,
            shared_bytes: 0,
        }
    }

    /// A row of `blocks` blocks with `threads` threads each.
    pub fn row(blocks: u32, threads: u32) -> Self {
        Self::new((blocks, 1, 1), threads)
    }

    /// A row of blocks with one thread for each of `items` items.
    pub fn over(items: u32, threads: u32) -> Self {
        Self::row(items.div_ceil(threads), threads)
    }

    /// Sets the dynamic shared memory of each block to `shared_bytes` bytes.
    pub fn shared(self, shared_bytes: u32) -> Self {
        Self { shared_bytes, ..self }
    }
}

impl<P: Parameters> Function<P> {
    /// Launches the kernel on a stream. The caller must pass parameters with which the kernel stays inside its arrays.
    pub fn launch(&self, stream: &Arc<CudaStream>, blocks: Blocks, parameters: &P) -> Result<(), Error> {
        let mut launch = stream.launch_builder(&self.function);
        parameters.push(&mut launch);
        let config = LaunchConfig {
            grid_dim: blocks.grid,
            block_dim: (blocks.threads, 1, 1),
            shared_mem_bytes: blocks.shared_bytes,
        };
        // SAFETY: the compiler verified that the kernel's parameters are those of `P`. The callers vouch for the
        // lengths, and `selftest` compares the results of kernels with the CPU.
        unsafe { launch.launch(config) }.map_err(Error::driver(format!("launch {}", self.name)))?;
        Ok(())
    }
}

/// A member of a struct: name, type in CUDA (empty for structs that kernels declare), offset and size.
pub(crate) struct Member {
    pub name: &'static str,
    pub cuda: String,
    pub offset: usize,
    pub size: usize,
}

/// Assertions that a struct in the program has this size and these members. Offsets are asserted only with
/// `FARFIELD_CHECK_LAYOUT`, which the tests set: not every libnvrtc can evaluate them at compile time.
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

/// Assertions that a kernel takes these parameters, and that a struct of them has the layout of the host.
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

/// Definitions for the assertions. The run-time compiler has no `offsetof`; its headers define that by `__INTADDR__`.
pub(crate) const ASSERTIONS: &str = "
#define FARFIELD_OFFSET(type, member) __INTADDR__(&(((type *)0)->member))
template <class A, class B> struct farfield_same { static constexpr bool value = false; };
template <class A> struct farfield_same<A, A> { static constexpr bool value = true; };
";

/// The parameters of a kernel, in its order: `parameters! { /// Doc. struct P2m<T> { tree: In<Header>, count: u32 }
/// }`.
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

/// A struct that kernels also declare, under the name after `=`:
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

        // SAFETY: numbers and addresses, with the layout of the kernels' struct: see `checks`.
        unsafe impl $(<$T: cudarc::driver::DeviceRepr>)? cudarc::driver::DeviceRepr for $Name $(<$T>)? {}
        // SAFETY: any bits are valid for each member.
        unsafe impl $(<$T: $crate::device::AnyBits>)? $crate::device::AnyBits for $Name $(<$T>)?
        where
            $($type: $crate::device::AnyBits,)+
        {
        }

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

/// The kernels of one program by name, with their parameters: `kernels! { /// Doc. struct Kernels<T> { p2m: P2m<T> }
/// }`.
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
            /// Adds assertions on the parameters of these kernels to the program.
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
        /// Parameters of a kernel that does not exist.
        struct Example<T> { values: In<T>, count: u32, scale: T, out: Out<u64> }
    }

    #[test]
    fn assertions_cover_types_sizes_and_offsets_of_a_struct() {
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
