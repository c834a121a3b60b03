// y = 2 x on the CPU, in Rust, through Hilo's C interface.
//
//     rustc -L build/lib -C link-arg=-Wl,-rpath,build/lib examples/rust/main.rs && ./main
use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr::{null, null_mut};

type Handle = *mut c_void;
type Error = *mut c_void;

#[link(name = "hilo")]
extern "C" {
    fn HiloErrorGetMessage(error: Error) -> *const c_char;
    fn HiloErrorDestroy(error: Error);
    fn HiloClientCreate(platform: *const c_char, options: *const c_void, count: usize, client: *mut Handle) -> Error;
    fn HiloClientDestroy(client: Handle);
    fn HiloCompile(client: Handle, program: *const c_void, size: usize, options: *const c_void, count: usize,
                   executable: *mut Handle) -> Error;
    fn HiloExecutableDestroy(executable: Handle);
    fn HiloBufferFromHost(client: Handle, device: i32, element_type: i32, dimensions: *const i64, rank: usize,
                          data: *const c_void, size: usize, release: *const c_void, user_data: *mut c_void,
                          buffer: *mut Handle) -> Error;
    fn HiloBufferCopyToHost(buffer: Handle, data: *mut c_void, size: usize) -> Error;
    fn HiloBufferDestroy(buffer: Handle);
    fn HiloExecute(executable: Handle, arguments: *const Handle, count: usize, options: *const c_void,
                   results: *mut Handle, num_results: usize, event: *mut Handle) -> Error;
}

const F32: i32 = 11;

fn check(error: Error) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    let message = unsafe { CStr::from_ptr(HiloErrorGetMessage(error)) }.to_string_lossy().into_owned();
    unsafe { HiloErrorDestroy(error) };
    Err(message)
}

/// Frees a handle at the end of its scope.
struct Owned(Handle, unsafe extern "C" fn(Handle));

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { (self.1)(self.0) }
    }
}

/// Calls a function that makes a handle.
fn make(free: unsafe extern "C" fn(Handle), call: impl FnOnce(*mut Handle) -> Error) -> Result<Owned, String> {
    let mut handle = null_mut();
    check(call(&mut handle))?;
    Ok(Owned(handle, free))
}

fn run(program: &str, x: &[f32]) -> Result<Vec<f32>, String> {
    let platform = CString::new("cpu").unwrap();
    let client = make(HiloClientDestroy, |out| unsafe { HiloClientCreate(platform.as_ptr(), null(), 0, out) })?;
    let executable = make(HiloExecutableDestroy, |out| unsafe {
        HiloCompile(client.0, program.as_ptr().cast(), program.len(), null(), 0, out)
    })?;
    let dimensions = [x.len() as i64];
    let argument = make(HiloBufferDestroy, |out| unsafe {
        HiloBufferFromHost(client.0, 0, F32, dimensions.as_ptr(), 1, x.as_ptr().cast(), 4 * x.len(), null(),
                           null_mut(), out)
    })?;
    let result = make(HiloBufferDestroy, |out| unsafe {
        HiloExecute(executable.0, &argument.0, 1, null(), out, 1, null_mut())
    })?;
    let mut y = vec![0f32; x.len()];
    check(unsafe { HiloBufferCopyToHost(result.0, y.as_mut_ptr().cast(), 4 * y.len()) })?;
    Ok(y)
}

fn main() -> Result<(), String> {
    let program = "HloModule twice\nENTRY main { x = f32[3] parameter(0)  ROOT y = f32[3] add(x, x) }\n";
    println!("{:?}", run(program, &[1.0, 2.0, 3.5])?);
    if let Err(message) = run(&program.replace("ROOT y = f32[3]", "ROOT y = f32[4]"), &[0.0; 3]) {
        println!("{message}");
    }
    Ok(())
}
