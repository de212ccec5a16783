//! HTTP requests of the page: its files, and the handshake of its WebSocket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head of a request in bytes.
const LONGEST_HEAD: usize = 8192;
/// The time a browser has to send the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The files of the page: path, type, text. All are embedded in the program.
const FILES: [(&str, &str, &str); 15] = [
    ("/", HTML, include_str!("../page/index.html")),
    (
        "/style.css",
        "text/css; charset=utf-8",
        include_str!("../page/style.css"),
    ),
    ("/main.js", SCRIPT, include_str!("../page/main.js")),
    ("/connection.js", SCRIPT, include_str!("../page/connection.js")),
    ("/frame.js", SCRIPT, include_str!("../page/frame.js")),
    ("/camera.js", SCRIPT, include_str!("../page/camera.js")),
    ("/settings.js", SCRIPT, include_str!("../page/settings.js")),
    ("/colours.js", SCRIPT, include_str!("../page/colours.js")),
    ("/gpu.js", SCRIPT, include_str!("../page/gpu.js")),
    ("/picture.js", SCRIPT, include_str!("../page/picture.js")),
    ("/volume.js", SCRIPT, include_str!("../page/volume.js")),
    ("/charts.js", SCRIPT, include_str!("../page/charts.js")),
    ("/panel.js", SCRIPT, include_str!("../page/panel.js")),
    ("/input.js", SCRIPT, include_str!("../page/input.js")),
    ("/saving.js", SCRIPT, include_str!("../page/saving.js")),
];
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The content security policy: only the page's own scripts, and a WebSocket to the server they came from.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The parts of a request that the server uses.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// The path, without the query.
    pub path: String,
    /// The value of `token` in the query.
    pub token: Option<String>,
    /// The `Host` header: the name and port that the browser used.
    pub host: String,
    /// The `Origin` header: the site of the script that opens a WebSocket.
    pub origin: Option<String>,
    /// The key of a WebSocket handshake, if the request is one.
    pub socket_key: Option<String>,
}

/// Reads the head of a request.
///
/// # Errors
/// A message if the request is invalid, too long or does not arrive in time.
pub fn read_request(stream: &mut TcpStream) -> Result<Request, String> {
    let begin = Instant::now();
    let mut head = Vec::new();
    loop {
        let left = PATIENCE.checked_sub(begin.elapsed()).ok_or("the request timed out")?;
        stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).map_err(|error| error.to_string())?;
        if count == 0 {
            return Err("the request ended early".to_owned());
        }
        head.extend_from_slice(&piece[..count]);
        if let Some(request) = parse(&head)? {
            return Ok(request);
        }
        if head.len() > LONGEST_HEAD {
            return Err("the request is too long".to_owned());
        }
    }
}

/// Parses a request; `None` while its head is incomplete.
pub fn parse(head: &[u8]) -> Result<Option<Request>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    if request.parse(head).map_err(|error| error.to_string())?.is_partial() {
        return Ok(None);
    }
    if request.method != Some("GET") {
        return Err("only GET is supported".to_owned());
    }
    let header = |name: &str| {
        let found = request
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::to_owned)
    };
    let target = request.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let is_socket = header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
        && header("sec-websocket-version").as_deref() == Some("13");
    Ok(Some(Request {
        path: path.to_owned(),
        token: query
            .split('&')
            .find_map(|pair| pair.strip_prefix("token="))
            .map(str::to_owned),
        host: header("host").unwrap_or_default(),
        origin: header("origin"),
        socket_key: header("sec-websocket-key").filter(|_| is_socket),
    }))
}

/// Answers a request for a file.
pub fn answer_file(stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
    match FILES.iter().find(|(found, _, _)| *found == path) {
        Some((_, kind, text)) => answer(stream, "200 OK", kind, text),
        None => answer(stream, "404 Not Found", "text/plain", "file not found\n"),
    }
}

/// Refuses a request.
pub fn refuse(stream: &mut TcpStream, why: &str) -> std::io::Result<()> {
    answer(
        stream,
        "403 Forbidden",
        "text/plain; charset=utf-8",
        &format!("{why}\n"),
    )
}

fn answer(stream: &mut TcpStream, status: &str, kind: &str, text: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nContent-Security-Policy: {POLICY}\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Answers the handshake of a WebSocket.
pub fn accept_socket(stream: &mut TcpStream, key: &str) -> std::io::Result<()> {
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_parsed() {
        let text = "GET /socket?a=1&token=abc HTTP/1.1\r\nHost: localhost:7878\r\nOrigin: http://localhost:7878\r\n\
                    Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n\r\n";
        assert_eq!(parse(&text.as_bytes()[..40]), Ok(None));
        let request = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!(request.path, "/socket");
        assert_eq!(request.token.as_deref(), Some("abc"));
        assert_eq!(request.host, "localhost:7878");
        assert_eq!(request.socket_key.as_deref(), Some("dGhlIHNhbXBsZQ=="));
        assert!(parse(b"POST / HTTP/1.1\r\n\r\n").is_err());
        assert!(parse(b"\x16\x03\x01\x02\x00").is_err());
    }

    #[test]
    fn every_imported_script_is_served() {
        for (path, kind, text) in FILES.iter().filter(|(_, kind, _)| *kind == SCRIPT) {
            for line in text
                .lines()
                .filter(|line| line.starts_with("import ") || line.starts_with("} from "))
            {
                let name = line.split('"').nth(1).unwrap().trim_start_matches('.');
                assert!(
                    FILES.iter().any(|(known, _, _)| *known == name),
                    "{path}: {kind}: {line}"
                );
            }
        }
    }

    #[test]
    fn the_page_contains_no_external_url() {
        for (path, _, text) in FILES {
            let urls =
                text.matches("http://").count() + text.matches("https://").count() + text.matches("//cdn").count();
            assert_eq!(urls, 0, "{path}");
        }
    }
}
