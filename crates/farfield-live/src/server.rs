//! The server: one thread accepts connections, and each viewer has its own threads. There are few browsers, so
//! threads are cheap enough.

use crate::Error;
use crate::connection;
use crate::http::{self, Request};
use crate::hub::Hub;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most simultaneous connections.
const MOST_CONNECTIONS: usize = 256;
/// The path of the WebSocket.
const SOCKET: &str = "/socket";
/// The write timeout: a connection that takes no data for this long is closed.
const SEND_PATIENCE: Duration = Duration::from_secs(20);

/// Access control.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Access {
    /// The secret in the address. Without a token only browsers on this machine have access.
    pub token: Option<String>,
}

impl Access {
    /// Access for everyone who knows the token, a new secret of 128 random bits.
    ///
    /// # Errors
    /// [`Error::Listen`] if the system provides no random numbers.
    pub fn with_token() -> Result<Self, Error> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| Error::Listen {
            address: "a secret address".to_owned(),
            cause: std::io::Error::other(error.to_string()),
        })?;
        Ok(Self {
            token: Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        })
    }

    /// The reason to refuse a request, or `None` to allow it.
    fn refusal(&self, request: &Request) -> Option<&'static str> {
        match &self.token {
            Some(token) => {
                // Scripts and styles are public; the run is not.
                let is_secret = request.path == "/" || request.path == SOCKET;
                let is_known = request.token.as_ref().is_some_and(|given| equal(given, token));
                if is_secret && !is_known {
                    return Some("the address must end in the token that the program printed: /?token=...");
                }
            }
            // DNS rebinding: another site can resolve its name to this machine; the host is then that name.
            None if !is_loopback(&request.host) => {
                return Some("this page is available only at http://127.0.0.1 or http://localhost");
            }
            None => {}
        }
        let own = format!("http://{}", request.host);
        let is_foreign = request.origin.as_ref().is_some_and(|origin| *origin != own);
        (request.path == SOCKET && is_foreign).then_some("only the page of this program may connect")
    }
}

/// Compares in constant time, so that the time does not reveal where the texts differ.
fn equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |found, (x, y)| found | (x ^ y)) == 0
}

/// Whether a host, with or without a port, is a loopback address or `localhost`.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The server. Dropping it closes all connections.
pub struct Server {
    address: SocketAddr,
    access: Access,
    hub: Arc<Hub>,
    streams: Streams,
    thread: Option<JoinHandle<()>>,
}

/// The open connections of viewers, to close them at the end.
type Streams = Arc<Mutex<Vec<TcpStream>>>;

impl Server {
    /// Serves viewers of `hub` at `address`; port 0 selects a free port.
    ///
    /// # Errors
    /// [`Error::Listen`] if the address cannot be listened on.
    pub fn start(address: SocketAddr, access: Access, hub: Arc<Hub>) -> Result<Self, Error> {
        let failed = |cause| Error::Listen {
            address: address.to_string(),
            cause,
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let streams = Streams::default();
        let thread = {
            let (hub, access, streams) = (hub.clone(), access.clone(), streams.clone());
            std::thread::spawn(move || accept(&listener, &access, &hub, &streams))
        };
        Ok(Self {
            address,
            access,
            hub,
            streams,
            thread: Some(thread),
        })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for a browser on this machine.
    pub fn url(&self) -> String {
        let mut shown = self.address;
        if shown.ip().is_unspecified() {
            shown.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        match &self.access.token {
            Some(token) => format!("http://{shown}/?token={token}"),
            None => format!("http://{shown}/"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.hub.close();
        // Wakes the thread that accepts connections.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        drop(TcpStream::connect_timeout(&own, Duration::from_secs(1)));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        for stream in self.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn accept(listener: &TcpListener, access: &Access, hub: &Arc<Hub>, streams: &Streams) {
    let count = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if hub.is_closed() {
            return;
        }
        let Ok(stream) = stream else {
            // For instance out of file descriptors: wait until some are closed.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if count.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            count.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (access, hub, streams, open) = (access.clone(), hub.clone(), streams.clone(), count.clone());
        let started = std::thread::Builder::new().name("viewer".to_owned()).spawn(move || {
            serve(stream, &access, &hub, &streams);
            open.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Serves one connection: sends a file, or serves a viewer until it leaves.
fn serve(mut stream: TcpStream, access: &Access, hub: &Arc<Hub>, streams: &Streams) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(SEND_PATIENCE));
    let Ok(request) = http::read_request(&mut stream) else {
        return;
    };
    if let Some(why) = access.refusal(&request) {
        let _ = http::refuse(&mut stream, why);
        return;
    }
    match request.socket_key {
        Some(key) if request.path == SOCKET => {
            let (Ok(known), Ok(peer)) = (stream.try_clone(), stream.peer_addr()) else {
                return;
            };
            streams.lock().unwrap_or_else(PoisonError::into_inner).push(known);
            if http::accept_socket(&mut stream, &key).is_ok() {
                connection::serve(&stream, hub);
            }
            let _ = stream.shutdown(Shutdown::Both);
            let is_other = |known: &mut TcpStream| known.peer_addr().is_ok_and(|other| other != peer);
            streams
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .retain_mut(is_other);
        }
        _ => {
            let _ = http::answer_file(&mut stream, &request.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, host: &str, origin: Option<&str>, token: Option<&str>) -> Request {
        Request {
            path: path.to_owned(),
            token: token.map(str::to_owned),
            host: host.to_owned(),
            origin: origin.map(str::to_owned),
            socket_key: None,
        }
    }

    #[test]
    fn without_a_token_only_this_machine_has_access() {
        let access = Access::default();
        for host in ["127.0.0.1:7878", "localhost:9", "[::1]:80", "localhost"] {
            let own = format!("http://{host}");
            assert_eq!(access.refusal(&request("/socket", host, Some(&own), None)), None);
        }
        for host in ["evil.example:7878", "127.0.0.1.evil.example", "", "10.0.0.1:80"] {
            assert!(access.refusal(&request("/", host, None, None)).is_some());
        }
        let foreign = request("/socket", "127.0.0.1:7878", Some("http://evil.example"), None);
        assert!(access.refusal(&foreign).is_some());
    }

    #[test]
    fn the_token_opens_the_page_and_the_socket() {
        let access = Access::with_token().unwrap();
        let token = access.token.clone().unwrap();
        assert_ne!(Access::with_token().unwrap().token, access.token);
        assert_eq!(token.len(), 32);
        for path in ["/", "/socket"] {
            assert_eq!(access.refusal(&request(path, "10.0.0.1:80", None, Some(&token))), None);
            for wrong in [None, Some(""), Some("0123"), Some(&token[1..])] {
                assert!(access.refusal(&request(path, "10.0.0.1:80", None, wrong)).is_some());
            }
        }
        assert_eq!(access.refusal(&request("/main.js", "10.0.0.1:80", None, None)), None);
    }
}
