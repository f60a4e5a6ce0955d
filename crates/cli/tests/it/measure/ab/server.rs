//! A model for tests: an HTTP/1.1 server on this machine with scripted answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// Every header line, names in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

/// A status, additional header lines, and a body.
pub(crate) type Response = (u16, &'static str, String);

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Serves until the test ends, one request per connection.
    pub(crate) fn start(mut answer: impl FnMut(&Request) -> Response + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = seen.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read(&stream) else { continue };
                let (status, headers, body) = answer(&request);
                kept.lock().unwrap().push(request);
                let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
                stream.write_all(format!("{head}{headers}\r\n{body}").as_bytes()).ok();
            }
        });
        Self { url, seen }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut source = BufReader::new(stream);
    let mut first = String::new();
    source.read_line(&mut first).ok()?;
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        source.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        let name = name.to_lowercase();
        if name == "content-length" {
            length = value.trim().parse().ok()?;
        }
        headers.push(format!("{name}: {}", value.trim()));
    }
    let mut body = vec![0; length];
    source.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    Some(Request { path, headers, body: serde_json::from_slice(&body).ok()? })
}
