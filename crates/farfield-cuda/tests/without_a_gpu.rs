//! What a machine without a driver, a device or a compiler is told.

use farfield_cuda::compile::{Cache, Compiler, Nvrtc, Places, Program};
use farfield_cuda::{Device, Error};

#[test]
fn opening_a_device_without_a_driver_is_an_error_that_says_what_to_install() {
    match Device::open(0) {
        // A machine with a GPU runs this test as well.
        Ok(device) => assert!(!device.properties().name.is_empty()),
        Err(error) => {
            assert!(
                matches!(error, Error::NoDriver | Error::NoDevice { .. } | Error::TooOld { .. }),
                "{error:?}"
            );
            assert!(error.to_string().contains("the CPU"), "{error}");
        }
    }
}

#[test]
fn listing_devices_without_a_driver_is_an_error_and_no_panic() {
    if let Err(error) = Device::all() {
        assert!(matches!(error, Error::NoDriver | Error::NoDevice { .. }), "{error:?}");
    }
}

#[test]
fn a_device_number_beyond_the_last_is_named() {
    match Device::open(1000) {
        Err(Error::DeviceNumber { asked: 1000, count }) => assert!(count >= 1),
        Err(Error::NoDriver | Error::NoDevice { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_compiler_is_an_error_that_lists_the_places() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places {
        pythons: vec![folder.path().join("venv")],
        toolkits: vec![folder.path().join("cuda")],
        ..Places::default()
    };
    let error = Nvrtc::load(&places).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::NoNvrtc { .. }), "{error:?}");
    assert!(
        text.contains("cuda/lib64") && text.contains("pip install") && text.contains("FARFIELD_NVRTC"),
        "{text}"
    );
}

#[test]
fn a_library_that_is_no_compiler_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libnvrtc.so");
    std::fs::write(&path, b"not a library").unwrap();
    let places = Places {
        given: Some(path.clone()),
        ..Places::default()
    };
    match Compiler::new(places, Cache::none()).code(&Program::new("empty", ""), 90, 13000) {
        Err(Error::BadNvrtc { path: named, .. }) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
}
